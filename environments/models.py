"""Tasks and the suites that they belong to."""

from django.db import models


class TaskSuite(models.Model):
    """Tasks that are trained or reported together."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    description = models.TextField(blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    """One thing to do in one world; rows are made from the backends' own lists."""

    suite = models.ForeignKey(TaskSuite, on_delete=models.PROTECT, related_name="tasks")
    backend = models.CharField(max_length=40)
    """Name in ``environments.registry``."""
    name = models.CharField(max_length=100)
    """Name within the backend; ``<backend>/<name>`` is how people refer to it."""
    title = models.CharField(max_length=200)
    """The instruction with its blanks, for people."""
    max_steps = models.PositiveIntegerField(default=10)
    params = models.JSONField(default=dict, blank=True)
    tags = models.JSONField(default=list, blank=True)
    category = models.CharField(max_length=40, blank=True)
    """What kind of thing it asks for, in a word; empty if nobody said."""
    typical_steps = models.PositiveIntegerField(null=True, blank=True)
    """Actions that an expert needs, as a rule."""
    needs_text = models.BooleanField(default=False)
    needs_drag = models.BooleanField(default=False)
    needs_scroll = models.BooleanField(default=False)
    is_timed = models.BooleanField(default=False)
    """Whether the screen changes by itself."""
    has_oracle = models.BooleanField(default=False)
    """Whether a scripted expert can play it."""
    is_official = models.BooleanField(default=True)
    """False for pages of ours in a benchmark's manner."""
    is_feasible = models.BooleanField(default=True)

    class Meta:
        ordering = ["backend", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["backend", "name"], name="one_task_per_name"
            )
        ]

    def __str__(self) -> str:
        return f"{self.backend}/{self.name}"
