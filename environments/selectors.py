"""What there is to do, as rows."""

from django.db.models import QuerySet

from environments.errors import UnknownTask
from environments.models import Task
from environments.types import TaskSpec


def tasks_all() -> QuerySet[Task]:
    """Return all tasks with their suites; everybody may see them."""
    return Task.objects.select_related("suite").order_by("backend", "name")


def task_by_path(path: str) -> Task:
    """Return the task that people call ``<backend>/<name>``.

    Raises:
        UnknownTask: If there is none.
    """
    backend, _, name = path.partition("/")
    try:
        return tasks_all().get(backend=backend, name=name)
    except Task.DoesNotExist:
        raise UnknownTask(f"no task {path!r}, expected <backend>/<name>") from None


def task_spec(task: Task) -> TaskSpec:
    """Return what an environment is asked for."""
    return TaskSpec(
        backend=task.backend,
        name=task.name,
        max_steps=task.max_steps,
        params=task.params,
    )
