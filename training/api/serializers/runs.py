"""The JSON of runs and of what belongs to them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from training.api.serializers.configs import config_from_preset, config_read
from training.config import RlConfig, SftConfig
from training.models import Checkpoint, Group, MetricRow, Run, RunTransition
from training.presets import PRESETS


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run, as the API answers it."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    config = serializers.DictField(
        read_only=True, help_text="Exactly what the run computes by."
    )
    kind = serializers.CharField(read_only=True, help_text="`rl` or `sft`.")

    class Meta:
        model = Run
        fields = (
            "id",
            "owner",
            "name",
            "kind",
            "status",
            "reason",
            "attempt",
            "optimizer_step",
            "policy_version",
            "last_seq",
            "config",
            "created_at",
            "started_at",
            "finished_at",
        )
        read_only_fields = fields


class RunCreateSerializer(serializers.Serializer[Any]):
    """A run, as the API is asked for it: a whole ``config``, or a ``preset``."""

    name = serializers.CharField(max_length=100)
    config = serializers.DictField(
        required=False, help_text="All of it; see the reference of configurations."
    )
    preset = serializers.ChoiceField(choices=sorted(PRESETS), required=False)
    overrides = serializers.DictField(
        required=False, help_text="What differs from the preset, in the same nesting."
    )

    def validate_config(self, value: object) -> RlConfig | SftConfig:
        """Read the configuration strictly; report every mistake, by its path."""
        return config_read(value)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return ``name`` and ``config``, wherever the latter came from."""
        has_preset = "preset" in attrs
        if has_preset == ("config" in attrs):
            raise serializers.ValidationError(
                "expected either config, or preset with overrides"
            )
        if "overrides" in attrs and not has_preset:
            raise serializers.ValidationError(
                {"overrides": "overrides change a preset; none is named"}
            )
        config = attrs.get("config")
        if has_preset:
            try:
                config = config_from_preset(attrs["preset"], attrs.get("overrides", {}))
            except serializers.ValidationError as error:
                raise serializers.ValidationError(
                    {"overrides": error.detail}
                ) from error
        return {"name": attrs["name"], "config": config}


class RunTransitionSerializer(serializers.ModelSerializer[RunTransition]):
    """One change of a run's status."""

    class Meta:
        model = RunTransition
        fields = ("old_status", "new_status", "reason", "who", "at")
        read_only_fields = fields


class GroupSerializer(serializers.ModelSerializer[Group]):
    """The rollouts of one task and seed, and what became of them."""

    task = serializers.CharField(source="task.__str__", read_only=True)
    step = serializers.IntegerField(
        source="batch.step",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="The optimizer step that it was batched for.",
    )

    class Meta:
        model = Group
        fields = (
            "id",
            "task",
            "seed",
            "num_rollouts",
            "step_limit",
            "dispatched_version",
            "status",
            "drop_reason",
            "step",
            "created_at",
        )
        read_only_fields = fields


class CheckpointSerializer(serializers.ModelSerializer[Checkpoint]):
    """A version of a run's policy."""

    run = serializers.PrimaryKeyRelatedField[Run](read_only=True)
    policy = serializers.SerializerMethodField(
        help_text="How configurations and evaluations refer to it."
    )

    class Meta:
        model = Checkpoint
        fields = (
            "id",
            "run",
            "version",
            "step",
            "status",
            "policy",
            "sha256",
            "size_bytes",
            "created_at",
        )
        read_only_fields = fields

    @extend_schema_field(str)
    def get_policy(self, checkpoint: Checkpoint) -> str:
        """Return the policy reference."""
        return f"{checkpoint.run_id}@{checkpoint.version}"


class MetricRowSerializer(serializers.ModelSerializer[MetricRow]):
    """Measurements of one moment."""

    values = serializers.DictField(child=serializers.FloatField(allow_null=True))

    class Meta:
        model = MetricRow
        fields = ("seq", "attempt", "step", "source", "at", "values")
        read_only_fields = fields


class MetricsQuerySerializer(serializers.Serializer[Any]):
    """Which metric rows are wanted."""

    after = serializers.IntegerField(
        min_value=0, default=0, help_text="Rows with a `seq` above this."
    )
    limit = serializers.IntegerField(min_value=1, max_value=5000, default=1000)


class MetricsSerializer(serializers.Serializer[Any]):
    """Some metric rows, oldest first."""

    rows = MetricRowSerializer(many=True)
    last_seq = serializers.IntegerField(
        help_text="Ask again with `after` set to this; no rows means you have them all."
    )
