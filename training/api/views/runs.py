"""The API of runs."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import GenericViewSet

from studio.common.http import AuthenticatedRequest
from training.api.serializers.runs import (
    CheckpointSerializer,
    GroupSerializer,
    MetricsQuerySerializer,
    MetricsSerializer,
    RunCreateSerializer,
    RunSerializer,
    RunTransitionSerializer,
)
from training.api.views.references import references_by_path
from training.models import Run
from training.selectors import metrics_after, runs_visible_to
from training.services.runs import (
    run_create,
    run_pause,
    run_resume,
    run_start,
    run_stop,
)
from training.states import RunStatus


class RunFilter(filters.FilterSet):
    """``?status=running&status=queued&kind=rl&name=night``."""

    status = filters.MultipleChoiceFilter(choices=RunStatus.choices)
    kind = filters.ChoiceFilter(choices=[("rl", "rl"), ("sft", "sft")])
    name = filters.CharFilter(lookup_expr="icontains")

    class Meta:
        model = Run
        fields = ("status", "kind", "name")


class RunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Run]):
    """Your runs; an administrator sees all."""

    request: AuthenticatedRequest
    lookup_value_converter = "uuid"
    queryset = Run.objects.none()
    serializer_class = RunSerializer
    filterset_class = RunFilter
    filter_backends = (filters.DjangoFilterBackend, OrderingFilter)
    ordering_fields = ("created_at", "started_at", "finished_at", "name", "status")

    def get_queryset(self) -> QuerySet[Run]:
        """Return only what the user may see, so a stranger's run answers 404."""
        return runs_visible_to(self.request.user).select_related("owner")

    @extend_schema(request=RunCreateSerializer, responses={201: RunSerializer})
    def create(self, request: AuthenticatedRequest) -> Response:
        """Keep a run as a draft; `start` begins it."""
        payload = RunCreateSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        where = "overrides" if "preset" in request.data else "config"
        with references_by_path(where):
            run = run_create(owner=request.user, **payload.validated_data)
        return Response(RunSerializer(run).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def start(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """Queue a draft; 409 if it is none."""
        run = run_start(run_id=self.get_object().pk, who=request.user.username)
        return Response(RunSerializer(run).data)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def stop(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """Stop a run after its present optimizer step; 409 if it is over already."""
        run = run_stop(run_id=self.get_object().pk, who=request.user.username)
        return Response(RunSerializer(run).data)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """Begin nothing new until the run is resumed; 409 if it is not running."""
        run = run_pause(run_id=self.get_object().pk, who=request.user.username)
        return Response(RunSerializer(run).data)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """Go on from the newest checkpoint; 409 if there is nothing to go on with."""
        run = run_resume(run_id=self.get_object().pk, who=request.user.username)
        return Response(RunSerializer(run).data)

    @extend_schema(parameters=[MetricsQuerySerializer], responses=MetricsSerializer)
    @action(detail=True, filter_backends=(), pagination_class=None)
    def metrics(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """Answer what was measured after `after`: ask again and again to follow a run."""
        query = MetricsQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        after, limit = query.validated_data["after"], query.validated_data["limit"]
        rows = list(metrics_after(self.get_object().pk, after)[:limit])
        last_seq = rows[-1].seq if rows else after
        return Response(MetricsSerializer({"rows": rows, "last_seq": last_seq}).data)

    @extend_schema(responses=CheckpointSerializer(many=True))
    @action(detail=True, filter_backends=())
    def checkpoints(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """List the versions of the run's policy, newest first."""
        return self._listed(self.get_object().checkpoints.all(), CheckpointSerializer)

    @extend_schema(responses=RunTransitionSerializer(many=True))
    @action(detail=True, filter_backends=())
    def transitions(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """List every change of the run's status, oldest first."""
        return self._listed(
            self.get_object().transitions.all(), RunTransitionSerializer
        )

    @extend_schema(responses=GroupSerializer(many=True))
    @action(detail=True, filter_backends=())
    def groups(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """List the groups that are compared with each other, oldest first."""
        rows = self.get_object().groups.select_related("task", "batch")
        return self._listed(rows, GroupSerializer)

    def _listed(
        self, rows: "QuerySet[Any]", serializer: "type[ModelSerializer[Any]]"
    ) -> Response:
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(serializer(page, many=True).data)
