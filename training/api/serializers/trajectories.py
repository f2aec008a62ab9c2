"""The JSON of trajectories."""

from typing import Any

from rest_framework import serializers

from training.models import Trajectory
from training.services.stored import trajectory_record

FIELDS = (
    "id",
    "run",
    "group",
    "evaluation",
    "task",
    "seed",
    "index",
    "step_limit",
    "status",
    "end_reason",
    "fault_code",
    "fault_detail",
    "reward",
    "advantage",
    "num_steps",
    "min_version",
    "max_version",
    "dispatched_at",
    "started_at",
    "finished_at",
)


class TrajectorySerializer(serializers.ModelSerializer[Trajectory]):
    """A trajectory's row."""

    task = serializers.CharField(source="task.__str__", read_only=True)

    class Meta:
        model = Trajectory
        fields: tuple[str, ...] = FIELDS
        read_only_fields = fields


class TrajectoryDetailSerializer(TrajectorySerializer):
    """A trajectory's row, with ``trajectory.json`` once it is over."""

    record = serializers.SerializerMethodField(
        help_text="`trajectory.json`; null while there is none."
    )

    class Meta(TrajectorySerializer.Meta):
        fields = (*FIELDS, "record")
        read_only_fields = fields

    def get_record(self, trajectory: Trajectory) -> dict[str, Any] | None:
        """Return the record as it is stored."""
        return trajectory_record(trajectory) if trajectory.path else None


class StepsSerializer(serializers.Serializer[Any]):
    """The steps of a trajectory, as its record has them."""

    steps = serializers.ListField(child=serializers.DictField())
    final_screen = serializers.DictField(allow_null=True)
