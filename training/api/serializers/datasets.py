"""The JSON of data sets."""

from typing import Any

from rest_framework import serializers

from training.models import Dataset


class MistakeSerializer(serializers.Serializer[Any]):
    """Why something was kept out."""

    file = serializers.CharField()
    line = serializers.IntegerField(help_text="From 1; 0 if it is not about a line.")
    field = serializers.CharField(help_text="Path within the record.")
    reason = serializers.CharField()


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A data set and how its import went; each answer in a conversation is a row."""

    owner = serializers.CharField(source="owner.username", read_only=True)

    class Meta:
        model = Dataset
        fields: tuple[str, ...] = (
            "id",
            "owner",
            "name",
            "source_format",
            "status",
            "reason",
            "num_read",
            "num_kept",
            "num_rejected",
            "created_at",
        )
        read_only_fields = fields


class DatasetDetailSerializer(DatasetSerializer):
    """A data set with what was wrong in it."""

    errors = MistakeSerializer(  # type: ignore[assignment]
        many=True, read_only=True, help_text="The first hundred."
    )

    class Meta(DatasetSerializer.Meta):
        fields = (*DatasetSerializer.Meta.fields, "errors")
        read_only_fields = fields


class DatasetCreateSerializer(serializers.Serializer[Any]):
    """An upload."""

    name = serializers.CharField(max_length=100)
    rows = serializers.FileField(
        help_text="Records as a JSON list or as JSON lines.", allow_empty_file=False
    )
    images = serializers.FileField(
        required=False, help_text="A zip of the pictures that the records name."
    )


class RowsQuerySerializer(serializers.Serializer[Any]):
    """Which rows are wanted."""

    start = serializers.IntegerField(min_value=0, default=0)
    limit = serializers.IntegerField(min_value=1, max_value=200, default=20)


class RowSerializer(serializers.Serializer[Any]):
    """One answer to learn from, with the history before it."""

    messages = serializers.ListField(child=serializers.DictField())
    images = serializers.ListField(
        child=serializers.CharField(), help_text="Hashes, in the order of their places."
    )


class RowsSerializer(serializers.Serializer[Any]):
    """Some rows of a data set."""

    rows = RowSerializer(many=True)
