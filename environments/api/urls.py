"""Routes of the API of tasks, suites and slots."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from environments.api.views import (
    SlotFrameView,
    SlotListView,
    SuiteViewSet,
    TaskViewSet,
)

router = SimpleRouter(use_regex_path=False)
router.register("tasks", TaskViewSet, basename="task")
router.register("suites", SuiteViewSet, basename="suite")

urlpatterns = [
    *router.urls,
    path("slots/", SlotListView.as_view(), name="slot-list"),
    path("slots/<path:slot>/frame/", SlotFrameView.as_view(), name="slot-frame"),
]
