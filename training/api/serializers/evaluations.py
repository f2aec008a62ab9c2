"""The JSON of evaluations."""

from typing import Any

from rest_framework import serializers

from training.models import Evaluation
from training.services.evaluations import FIRST_HELD_OUT_SEED


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    """An evaluation and what it measured so far."""

    run = serializers.UUIDField(source="run_id", read_only=True, allow_null=True)
    tasks = serializers.ListField(child=serializers.CharField(), read_only=True)
    results = serializers.DictField(
        read_only=True, help_text='By task: `{"episodes": 100, "solved": 97}`.'
    )

    class Meta:
        model = Evaluation
        fields = (
            "id",
            "run",
            "label",
            "policy",
            "policy_version",
            "tasks",
            "num_episodes",
            "first_seed",
            "temperature",
            "status",
            "num_finished",
            "success_rate",
            "results",
            "created_at",
            "finished_at",
        )
        read_only_fields = fields


class EvaluationCreateSerializer(serializers.Serializer[Any]):
    """An evaluation, as the API is asked for it."""

    policy = serializers.CharField(
        max_length=200,
        help_text="A policy's name, `<run id>@<version>`, `oracle` or `random`.",
    )
    tasks = serializers.ListField(child=serializers.CharField(), allow_empty=False)
    num_episodes = serializers.IntegerField(min_value=1, max_value=100_000)
    first_seed = serializers.IntegerField(
        min_value=FIRST_HELD_OUT_SEED,
        max_value=2**31 - 1,
        default=FIRST_HELD_OUT_SEED,
    )
    temperature = serializers.FloatField(
        min_value=0, max_value=5, default=0.0, help_text="0 is greedy."
    )
    label = serializers.CharField(  # type: ignore[assignment]  # DRF takes the field
        max_length=100, default="", allow_blank=True
    )
