"""Where a point of the model's picture lies on the screen, and back."""

from dataclasses import dataclass
from typing import Self

from PIL.Image import Image

from environments.types import Observation


@dataclass(frozen=True, kw_only=True, slots=True)
class ScreenView:
    """The part of the screen that a model is shown, in fractions of the screen.

    A point has *view* coordinates (u, v), fractions of the part, and *screen*
    coordinates (x, y), fractions of the whole; both run from the top left corner.
    """

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, observation: Observation) -> Self:
        """Return the view of an observation: its task area, or all of it."""
        area = observation.task_area
        if area is None:
            return cls(left=0.0, top=0.0, right=1.0, bottom=1.0)
        width, height = observation.screen.size
        return cls(
            left=area.left / width,
            top=area.top / height,
            right=area.right / width,
            bottom=area.bottom / height,
        )

    def to_screen(self, u: float, v: float) -> tuple[float, float]:
        """Return (x, y) of a point of the view."""
        x = self.left + u * (self.right - self.left)
        y = self.top + v * (self.bottom - self.top)
        return min(1.0, max(0.0, x)), min(1.0, max(0.0, y))

    def from_screen(self, x: float, y: float) -> tuple[float, float]:
        """Return (u, v) of a point of the screen; beyond 0…1 outside the view."""
        u = (x - self.left) / (self.right - self.left)
        v = (y - self.top) / (self.bottom - self.top)
        return u, v


def crop_to_view(observation: Observation) -> Image:
    """Return the pixels that a model is shown."""
    area = observation.task_area
    if area is None:
        return observation.screen
    return observation.screen.crop((area.left, area.top, area.right, area.bottom))
