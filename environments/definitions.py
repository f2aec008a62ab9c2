"""What a backend says about its own tasks."""

from dataclasses import dataclass

from environments.types import TaskSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskDefinition:
    """One task, as ``environments.services.tasks`` makes a row of it."""

    backend: str
    name: str
    title: str
    """The instruction with its blanks, for people."""
    max_steps: int
    """Actions after which an episode is cut off; about twice what an expert needs."""
    suite: str = ""
    """Slug of the suite; the backend's own name by default."""
    tags: tuple[str, ...] = ()
    is_official: bool = True
    is_feasible: bool = True

    def spec(self) -> TaskSpec:
        """Return what ``reset`` takes."""
        return TaskSpec(backend=self.backend, name=self.name, max_steps=self.max_steps)
