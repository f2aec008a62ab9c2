"""Everything below ``/api/``: version 1 of the API, its schema and its page."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

import studio.api.schema  # noqa: F401 - tells drf-spectacular of our tokens
from studio.api.cluster import (
    ClusterView,
    WorkerDrainView,
    WorkerRestartView,
    WorkerResumeView,
)
from studio.api.views import DocsView, MeView, TokenViewSet

router = SimpleRouter(use_regex_path=False)
router.register("tokens", TokenViewSet, basename="token")

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", DocsView.as_view(), name="api-docs"),
    path("v1/me/", MeView.as_view(), name="me"),
    path("v1/cluster/", ClusterView.as_view(), name="cluster"),
    path(
        "v1/cluster/workers/<str:name>/drain/",
        WorkerDrainView.as_view(),
        name="worker-drain",
    ),
    path(
        "v1/cluster/workers/<str:name>/resume/",
        WorkerResumeView.as_view(),
        name="worker-resume",
    ),
    path(
        "v1/cluster/workers/<str:name>/restart/",
        WorkerRestartView.as_view(),
        name="worker-restart",
    ),
    path("v1/", include(router.urls)),
    path("v1/", include("environments.api.urls")),
    path("v1/", include("training.api.urls")),
]
