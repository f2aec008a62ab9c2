"""Carries the actions of the unified space out in a tab."""

import asyncio
from typing import Final

from environments.actions import (
    Action,
    Click,
    DoubleClick,
    Drag,
    Key,
    Move,
    RightClick,
    Scroll,
    Type,
    Wait,
)
from environments.browser.page import Page

_NOTCH_PX: Final = 40
_WHEEL: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


async def carry_out(page: Page, action: Action, size: tuple[int, int]) -> None:
    """Do in a tab what an action says.

    Args:
        page: The tab.
        action: A deed; one that only ends the episode is not carried out.
        size: Width and height of the viewport in CSS pixels.

    Raises:
        InvalidAction: If a browser has no such key.
        StepFault: If the tab is gone.
    """
    hands = page.input

    def pixel(x: float, y: float) -> tuple[int, int]:
        return _pixel(x, y, size)

    match action:
        case Click():
            await hands.click(*pixel(action.x, action.y))
        case DoubleClick():
            await hands.click(*pixel(action.x, action.y), count=2)
        case RightClick():
            await hands.click(*pixel(action.x, action.y), button="right")
        case Move():
            await hands.move_mouse(*pixel(action.x, action.y))
        case Drag():
            await hands.drag(pixel(action.x, action.y), pixel(action.to_x, action.to_y))
        case Scroll():
            right, down = _WHEEL[action.direction]
            pixels = action.amount * _NOTCH_PX
            x, y = pixel(action.x, action.y)
            await hands.scroll(x, y, dx=right * pixels, dy=down * pixels)
        case Type():
            await hands.type(action.text)
        case Key():
            await hands.press(action.keys)
        case Wait():
            await asyncio.sleep(action.seconds)


def _pixel(x: float, y: float, size: tuple[int, int]) -> tuple[int, int]:
    """Return the pixel that a point lies in; 1.0 is the last one."""
    width, height = size
    return min(int(x * width), width - 1), min(int(y * height), height - 1)
