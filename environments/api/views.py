"""The API of tasks, suites and slots: all of it only reads."""

from typing import Any

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Concat
from django.http import HttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ReadOnlyModelViewSet

from environments.api.serializers import (
    SlotSerializer,
    SuiteSerializer,
    TaskSerializer,
)
from environments.models import Task, TaskSuite
from environments.selectors import slot_frame, slots_visible_to, suites, tasks_all
from studio.common.http import AuthenticatedRequest


class TaskFilter(filters.FilterSet):
    """``?suite=miniwob&backend=miniwob&is_official=true&full_name=miniwob/click-test``."""

    suite = filters.CharFilter(field_name="suite__slug")
    full_name = filters.CharFilter(method="filter_full_name")

    class Meta:
        model = Task
        fields = (
            "suite",
            "backend",
            "name",
            "category",
            "needs_text",
            "needs_drag",
            "needs_scroll",
            "is_timed",
            "has_oracle",
            "is_official",
            "is_feasible",
        )

    def filter_full_name(
        self, rows: QuerySet[Task], name: str, value: str
    ) -> QuerySet[Task]:
        """Find the task that configurations name so."""
        whole = Concat(F("backend"), Value("/"), F("name"))
        return rows.annotate(whole_name=whole).filter(whole_name=value)


class TaskViewSet(ReadOnlyModelViewSet[Task]):
    """The catalogue of tasks."""

    lookup_value_converter = "int"
    queryset = Task.objects.none()
    serializer_class = TaskSerializer
    filterset_class = TaskFilter
    filter_backends = (filters.DjangoFilterBackend, SearchFilter, OrderingFilter)
    search_fields = ("name", "title")
    ordering_fields = ("name", "category", "typical_steps", "max_steps")

    def get_queryset(self) -> QuerySet[Task]:
        """Return the tasks; everyone who is signed in sees all."""
        return tasks_all()


class SuiteViewSet(ReadOnlyModelViewSet[TaskSuite]):
    """Suites of tasks."""

    queryset = TaskSuite.objects.none()
    serializer_class = SuiteSerializer
    lookup_field = "slug"
    lookup_value_converter = "slug"

    def get_queryset(self) -> QuerySet[TaskSuite]:
        """Return the suites."""
        return suites()


class SlotListView(APIView):
    """The slots that work for you now; an administrator sees all."""

    request: AuthenticatedRequest

    @extend_schema(
        operation_id="slots_list",
        parameters=[
            OpenApiParameter(
                "run", OpenApiTypes.UUID, description="Only slots that work for it."
            )
        ],
        responses=SlotSerializer(many=True),
    )
    def get(self, request: AuthenticatedRequest) -> Response:
        """List the slots and what each is doing; screens are fetched one by one."""
        run_id = request.query_params.get("run", "")
        found = slots_visible_to(request.user, run_id=run_id)
        return Response(SlotSerializer(found, many=True).data)


class SlotFrameView(APIView):
    """The latest screen of one slot."""

    request: AuthenticatedRequest

    @extend_schema(
        operation_id="slots_frame",
        parameters=[
            OpenApiParameter("seq", int, description="Not read; keeps caches apart.")
        ],
        responses={
            (200, "image/webp"): OpenApiTypes.BINARY,
            204: None,
            304: None,
        },
    )
    def get(self, request: AuthenticatedRequest, slot: str) -> HttpResponse:
        """Answer the screen as WebP; 204 until one has been drawn for you.

        Screens are drawn only while somebody asks for them, so the first may take a
        step of the agent to come.
        """
        state, frame = slot_frame(request.user, slot)
        headers: dict[str, Any] = {
            "ETag": f'"{state.seq}"',
            "Cache-Control": "no-store",
        }
        if frame is None:
            return HttpResponse(status=204, headers={"Cache-Control": "no-store"})
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(frame, content_type="image/webp", headers=headers)
