"""The JSON of tasks, suites and slots."""

from typing import Any

from rest_framework import serializers

from environments.models import Task, TaskSuite


class SuiteSerializer(serializers.ModelSerializer[TaskSuite]):
    """Tasks that are trained or reported together."""

    num_tasks = serializers.IntegerField(read_only=True)

    class Meta:
        model = TaskSuite
        fields = ("slug", "name", "description", "num_tasks")
        read_only_fields = fields


class TaskSerializer(serializers.ModelSerializer[Task]):
    """A task of the catalogue."""

    full_name = serializers.CharField(
        source="__str__",
        read_only=True,
        help_text="`<backend>/<name>`, as configurations name it.",
    )
    suite = serializers.SlugRelatedField[TaskSuite](slug_field="slug", read_only=True)
    tags = serializers.ListField(child=serializers.CharField(), read_only=True)
    params = serializers.DictField(read_only=True)

    class Meta:
        model = Task
        fields = (
            "id",
            "full_name",
            "suite",
            "backend",
            "name",
            "title",
            "max_steps",
            "params",
            "tags",
            "category",
            "typical_steps",
            "needs_text",
            "needs_drag",
            "needs_scroll",
            "is_timed",
            "has_oracle",
            "is_official",
            "is_feasible",
        )
        read_only_fields = fields


class SlotSerializer(serializers.Serializer[Any]):
    """What one slot is doing; see ``environments.frames.SlotState``."""

    slot = serializers.CharField()
    worker = serializers.CharField()
    run_id = serializers.CharField()
    trajectory_id = serializers.CharField()
    evaluation_id = serializers.CharField()
    task = serializers.CharField()
    instruction = serializers.CharField()
    step = serializers.IntegerField()
    max_steps = serializers.IntegerField()
    state = serializers.CharField(
        help_text="`idle`, `reset`, `model`, `acting` or `evaluating`."
    )
    action = serializers.DictField(
        allow_null=True,
        help_text="The last action; points are fractions of the screen.",
    )
    version = serializers.IntegerField(allow_null=True)
    seq = serializers.IntegerField(help_text="Counts the slot's frames.")
    at = serializers.FloatField(help_text="Seconds since 1970.")
    screen_size = serializers.ListField(
        child=serializers.IntegerField(), allow_null=True, help_text="Width and height."
    )
