"""The API of evaluations."""

from uuid import UUID

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from studio.common.http import AuthenticatedRequest
from training.api.serializers.evaluations import (
    EvaluationCreateSerializer,
    EvaluationSerializer,
)
from training.api.views.references import references_by_path
from training.models import Evaluation
from training.selectors import evaluations_visible_to
from training.services.evaluations import evaluation_cancel, evaluation_create
from training.states import EvaluationStatus


class EvaluationFilter(filters.FilterSet):
    """``?run=…&status=finished``."""

    run = filters.UUIDFilter(field_name="run_id")
    status = filters.MultipleChoiceFilter(choices=EvaluationStatus.choices)

    class Meta:
        model = Evaluation
        fields = ("run", "status", "policy")


class EvaluationViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Evaluation]
):
    """Your evaluations; an administrator sees all."""

    request: AuthenticatedRequest
    lookup_value_converter = "uuid"
    queryset = Evaluation.objects.none()
    serializer_class = EvaluationSerializer
    filterset_class = EvaluationFilter
    filter_backends = (filters.DjangoFilterBackend, OrderingFilter)
    ordering_fields = ("created_at", "finished_at", "success_rate")

    def get_queryset(self) -> QuerySet[Evaluation]:
        """Return only what the user may see."""
        return evaluations_visible_to(self.request.user)

    @extend_schema(
        request=EvaluationCreateSerializer, responses={201: EvaluationSerializer}
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Measure a policy on held-out seeds, which are used for nothing else."""
        payload = EvaluationCreateSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        with references_by_path():
            evaluation = evaluation_create(owner=request.user, **payload.validated_data)
        body = EvaluationSerializer(evaluation).data
        return Response(body, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=EvaluationSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """End an evaluation early; one that is over stays as it is."""
        evaluation = self.get_object()
        evaluation_cancel(evaluation_id=evaluation.pk)
        evaluation.refresh_from_db()
        return Response(EvaluationSerializer(evaluation).data)
