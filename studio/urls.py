"""The studio's HTTP routes: each app brings its own."""

from django.urls import URLPattern, URLResolver, include, path

from studio.health import healthz
from studio.sign_in import sign_in_by_link

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", include("studio.api.urls")),
    path("healthz", healthz, name="healthz"),
    path("sign-in/<str:token>/", sign_in_by_link, name="sign-in-link"),
    path("", include("studio.page_urls")),
    path("", include("training.page_urls")),
    path("", include("environments.page_urls")),
]
