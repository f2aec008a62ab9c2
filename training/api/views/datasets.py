"""The API of data sets."""

from uuid import UUID

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from studio.common.http import AuthenticatedRequest
from training.api.serializers.datasets import (
    DatasetCreateSerializer,
    DatasetDetailSerializer,
    DatasetSerializer,
    RowsQuerySerializer,
    RowsSerializer,
)
from training.models import Dataset
from training.selectors import datasets_visible_to
from training.services.datasets import dataset_create_from_upload, dataset_rows
from training.services.uploads import upload_check
from training.states import DatasetStatus


class DatasetFilter(filters.FilterSet):
    """``?status=ready&name=demo``."""

    status = filters.MultipleChoiceFilter(choices=DatasetStatus.choices)
    name = filters.CharFilter(lookup_expr="icontains")

    class Meta:
        model = Dataset
        fields = ("status", "name", "source_format")


class DatasetViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Dataset]
):
    """Your data sets; an administrator sees all."""

    request: AuthenticatedRequest
    lookup_value_converter = "uuid"
    queryset = Dataset.objects.none()
    serializer_class = DatasetSerializer
    filterset_class = DatasetFilter
    filter_backends = (filters.DjangoFilterBackend, OrderingFilter)
    ordering_fields = ("created_at", "name", "num_kept")
    parser_classes = (MultiPartParser,)

    def get_queryset(self) -> QuerySet[Dataset]:
        """Return only what the user may see."""
        return datasets_visible_to(self.request.user).select_related("owner")

    def get_serializer_class(self) -> type[DatasetSerializer]:
        """Return the long form for one, the short for many."""
        is_one = self.action == "retrieve"
        return DatasetDetailSerializer if is_one else DatasetSerializer

    @extend_schema(
        request={"multipart/form-data": DatasetCreateSerializer},
        responses={201: DatasetDetailSerializer},
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Upload demonstrations; they are imported in the background."""
        # Before the body is read: what is too large need not be received first.
        upload_check(int(request.META.get("CONTENT_LENGTH") or 0))
        payload = DatasetCreateSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        dataset = dataset_create_from_upload(
            owner=request.user,
            name=payload.validated_data["name"],
            rows_file=payload.validated_data["rows"],
            images_zip=payload.validated_data.get("images"),
        )
        body = DatasetDetailSerializer(dataset).data
        return Response(body, status=status.HTTP_201_CREATED)

    @extend_schema(parameters=[RowsQuerySerializer], responses=RowsSerializer)
    @action(detail=True, filter_backends=(), pagination_class=None)
    def rows(self, request: AuthenticatedRequest, pk: UUID) -> Response:
        """Answer some rows, to look at; 404 while there are none."""
        query = RowsQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        start, limit = query.validated_data["start"], query.validated_data["limit"]
        rows = dataset_rows(dataset=self.get_object(), start=start, count=limit)
        return Response(RowsSerializer({"rows": rows}).data)
