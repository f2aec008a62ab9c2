"""Routes of the training API."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from training.api.views.datasets import DatasetViewSet
from training.api.views.evaluations import EvaluationViewSet
from training.api.views.runs import RunViewSet
from training.api.views.trajectories import CheckpointViewSet, TrajectoryViewSet

router = SimpleRouter(use_regex_path=False)
router.register("runs", RunViewSet, basename="run")
router.register("trajectories", TrajectoryViewSet, basename="trajectory")
router.register("checkpoints", CheckpointViewSet, basename="checkpoint")
router.register("datasets", DatasetViewSet, basename="dataset")
router.register("evaluations", EvaluationViewSet, basename="evaluation")

urlpatterns = [
    *router.urls,
    path(
        "trajectories/<uuid:pk>/frames/<str:sha256>.webp",
        TrajectoryViewSet.as_view({"get": "frame"}),
        name="trajectory-frame",
    ),
]
