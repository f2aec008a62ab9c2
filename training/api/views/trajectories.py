"""The API of trajectories and of checkpoints."""

from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Concat
from django.http import HttpResponse, StreamingHttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from studio.common.http import AuthenticatedRequest
from training.api.serializers.runs import CheckpointSerializer
from training.api.serializers.trajectories import (
    StepsSerializer,
    TrajectoryDetailSerializer,
    TrajectorySerializer,
)
from training.models import Checkpoint, Trajectory
from training.selectors import checkpoints_visible_to, trajectories_visible_to
from training.services.stored import (
    trajectory_archive,
    trajectory_frame,
    trajectory_record,
)
from training.states import CheckpointStatus, TrajectoryStatus

FOREVER = "private, max-age=31536000, immutable"
"""A picture is named by its pixels, so it never changes under its address."""


class TrajectoryFilter(filters.FilterSet):
    """``?run=…&status=finished&end_reason=solved&task=miniwob/click-test``."""

    run = filters.UUIDFilter(field_name="run_id")
    group = filters.UUIDFilter(field_name="group_id")
    evaluation = filters.UUIDFilter(field_name="evaluation_id")
    status = filters.MultipleChoiceFilter(choices=TrajectoryStatus.choices)
    end_reason = filters.CharFilter()
    fault_code = filters.CharFilter()
    task = filters.CharFilter(method="filter_task")

    class Meta:
        model = Trajectory
        fields = ("run", "group", "evaluation", "status", "end_reason", "fault_code")

    def filter_task(
        self, rows: QuerySet[Trajectory], name: str, value: str
    ) -> QuerySet[Trajectory]:
        """Find the trajectories of ``<backend>/<name>``."""
        whole = Concat(F("task__backend"), Value("/"), F("task__name"))
        return rows.annotate(task_name=whole).filter(task_name=value)


class TrajectoryViewSet(ReadOnlyModelViewSet[Trajectory]):
    """Your trajectories; an administrator sees all."""

    request: AuthenticatedRequest
    lookup_value_converter = "uuid"
    queryset = Trajectory.objects.none()
    filterset_class = TrajectoryFilter
    filter_backends = (filters.DjangoFilterBackend, OrderingFilter)
    ordering_fields = ("dispatched_at", "finished_at", "reward", "num_steps")
    serializer_class = TrajectorySerializer

    def get_queryset(self) -> QuerySet[Trajectory]:
        """Return only what the user may see."""
        return trajectories_visible_to(self.request.user)

    def get_serializer_class(self) -> type[TrajectorySerializer]:
        """Return the long form for one, the short for many."""
        is_one = self.action == "retrieve"
        return TrajectoryDetailSerializer if is_one else TrajectorySerializer

    @extend_schema(responses=StepsSerializer)
    @action(detail=True, filter_backends=(), pagination_class=None)
    def steps(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """Answer what was seen, said and done; 404 while there are no files."""
        record = trajectory_record(self.get_object())
        return Response(
            {"steps": record["steps"], "final_screen": record.get("final_screen")}
        )

    @extend_schema(responses={(200, "image/webp"): OpenApiTypes.BINARY})
    def frame(
        self, request: AuthenticatedRequest, pk: UUID, sha256: str
    ) -> HttpResponse:
        """Answer a picture that the trajectory names, lossless."""
        data = trajectory_frame(self.get_object(), sha256)
        headers = {"Cache-Control": FOREVER}
        return HttpResponse(data, content_type="image/webp", headers=headers)

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=True, filter_backends=(), pagination_class=None)
    def download(
        self, request: AuthenticatedRequest, pk: UUID
    ) -> StreamingHttpResponse:
        """Answer a zip: `trajectory.json`, `tokens.safetensors`, `frames/`."""
        trajectory = self.get_object()
        name = f"trajectory-{str(trajectory.pk)[:8]}.zip"
        return StreamingHttpResponse(
            trajectory_archive(trajectory),
            content_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class CheckpointFilter(filters.FilterSet):
    """``?run=…&status=ready``."""

    run = filters.UUIDFilter(field_name="run_id")
    status = filters.ChoiceFilter(choices=CheckpointStatus.choices)

    class Meta:
        model = Checkpoint
        fields = ("run", "status")


class CheckpointViewSet(ReadOnlyModelViewSet[Checkpoint]):
    """The policy versions of your runs."""

    request: AuthenticatedRequest
    lookup_value_converter = "uuid"
    queryset = Checkpoint.objects.none()
    serializer_class = CheckpointSerializer
    filterset_class = CheckpointFilter
    filter_backends = (filters.DjangoFilterBackend, OrderingFilter)
    ordering_fields = ("created_at", "version")

    def get_queryset(self) -> QuerySet[Checkpoint]:
        """Return only what the user may see."""
        return checkpoints_visible_to(self.request.user)
