import pytest

from environments.models import Task, TaskSuite
from environments.services.tasks import tasks_sync

pytestmark = pytest.mark.django_db


def test_the_rows_say_what_the_backends_say():
    tasks_sync()

    fill = Task.objects.get(backend="miniwob", name="fill-nth")
    tab = Task.objects.get(backend="miniwob", name="click-tab")
    assert (fill.suite.slug, fill.is_official, fill.max_steps) == ("oche", False, 6)
    assert (tab.suite.slug, tab.is_official, tab.max_steps) == ("miniwob", True, 2)
    assert (tab.category, tab.typical_steps, tab.needs_text) == ("clicking", 1, False)
    assert (fill.category, fill.typical_steps, fill.needs_text) == ("typing", 3, True)
    assert Task.objects.filter(suite__slug="miniwob").count() == 129
    assert Task.objects.filter(suite__slug="miniwob-flight").count() == 4


def test_doing_it_twice_changes_nothing():
    tasks_sync()
    before = list(Task.objects.values())

    tasks_sync()

    assert list(Task.objects.values()) == before
    assert TaskSuite.objects.count() == 4


def test_a_row_that_says_otherwise_is_put_right():
    tasks_sync()
    Task.objects.filter(name="fill-nth").update(max_steps=99, title="?")

    tasks_sync()

    assert Task.objects.get(name="fill-nth").max_steps == 6


def test_a_task_that_is_no_longer_offered_keeps_its_row():
    tasks_sync()
    suite = TaskSuite.objects.get(slug="miniwob")
    Task.objects.create(suite=suite, backend="miniwob", name="gone", title="Gone")

    offered = tasks_sync()

    assert Task.objects.filter(name="gone").exists()
    assert "gone" not in {task.name for task in offered}
