"""Backend name -> where its tasks, its host and its environment are found."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol

from environments.base import GUIEnvironment
from environments.definitions import TaskDefinition
from environments.errors import UnknownBackend, UnknownTask


class Host(Protocol):
    """What the environments of one backend share within a process."""

    @property
    def is_alive(self) -> bool:
        """Whether environments can be made on it."""
        ...

    async def start(self) -> None:
        """Start it; must run in a thread that lives as long as the host."""
        ...

    async def close(self) -> None:
        """Free everything, by force where needed; may be called twice."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """Dotted paths ``module:attribute``; a process loads only what it uses."""

    tasks: str
    """A sequence of ``TaskDefinition``."""
    host: str
    """A ``Host`` class, made without arguments."""
    environment: str
    """A ``GUIEnvironment`` class, made with a started host."""


BACKENDS: Final[dict[str, Backend]] = {
    "miniwob": Backend(
        tasks="environments.backends.miniwob.tasks:TASKS",
        host="environments.backends.miniwob.host:MiniWobHost",
        environment="environments.backends.miniwob.environment:MiniWobEnvironment",
    ),
    "scripted": Backend(
        tasks="environments.backends.scripted.tasks:TASKS",
        host="environments.backends.scripted.environment:ScriptedHost",
        environment="environments.backends.scripted.environment:ScriptedEnvironment",
    ),
}


def task_specs(backend: str) -> list[TaskDefinition]:
    """Return the tasks that a backend offers.

    Raises:
        UnknownBackend: If there is no such backend.
    """
    return list(_load(_entry(backend).tasks))


def find_task(backend: str, name: str) -> TaskDefinition:
    """Return one task of a backend.

    Raises:
        UnknownBackend: If there is no such backend.
        UnknownTask: If it has no such task.
    """
    for definition in task_specs(backend):
        if definition.name == name:
            return definition
    raise UnknownTask(f"{backend} has no task {name!r}")


def create_host(backend: str) -> Host:
    """Return a host of a backend, not yet started.

    Raises:
        UnknownBackend: If there is no such backend.
    """
    host: Host = _load(_entry(backend).host)()
    return host


def create(backend: str, *, host: Host) -> GUIEnvironment:
    """Return an environment of a backend.

    Args:
        backend: Its name.
        host: A started host of the same backend.

    Raises:
        UnknownBackend: If there is no such backend.
    """
    environment: GUIEnvironment = _load(_entry(backend).environment)(host)
    return environment


def _entry(backend: str) -> Backend:
    if backend not in BACKENDS:
        known = ", ".join(sorted(BACKENDS))
        raise UnknownBackend(f"unknown backend {backend!r}, expected one of {known}")
    return BACKENDS[backend]


def _load(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
