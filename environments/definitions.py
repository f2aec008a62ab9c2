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
    category: str = ""
    """What kind of thing it asks for, in a word: ``typing``."""
    typical_steps: int | None = None
    """Actions that an expert needs, as a rule."""
    needs_text: bool = False
    """Whether something has to be typed."""
    needs_drag: bool = False
    """Whether something has to be dragged."""
    needs_scroll: bool = False
    """Whether what matters may lie below the fold of the page or of a box in it."""
    is_timed: bool = False
    """Whether the screen changes by itself, so that it depends on when one looks."""
    has_oracle: bool = False
    """Whether a scripted expert can play it."""
    is_official: bool = True
    is_feasible: bool = True

    def spec(self) -> TaskSpec:
        """Return what ``reset`` takes."""
        return TaskSpec(backend=self.backend, name=self.name, max_steps=self.max_steps)
