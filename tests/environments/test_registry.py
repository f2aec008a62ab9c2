import pytest

from environments import registry
from environments.errors import UnknownBackend, UnknownTask


def test_every_backend_offers_tasks_of_its_own_under_unique_names():
    for backend in registry.BACKENDS:
        tasks = registry.task_specs(backend)
        names = [task.name for task in tasks]

        assert tasks
        assert len(set(names)) == len(names)
        assert {task.backend for task in tasks} == {backend}
        assert all(task.title and task.max_steps >= 2 for task in tasks)


def test_a_task_is_found_by_its_name():
    spec = registry.find_task("miniwob", "fill-nth").spec()

    assert (spec.backend, spec.name, spec.max_steps) == ("miniwob", "fill-nth", 6)


def test_what_is_unknown_is_said_with_what_is_known():
    with pytest.raises(UnknownBackend, match="one of miniwob, scripted"):
        registry.task_specs("mars")
    with pytest.raises(UnknownTask, match="no task 'fly'"):
        registry.find_task("miniwob", "fly")


def test_only_our_own_pages_are_not_official():
    ours = [t.name for t in registry.task_specs("miniwob") if not t.is_official]

    assert ours == ["fill-nth"]
