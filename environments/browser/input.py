"""Mouse and keyboard of one tab."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from environments.browser.keyboard import MODIFIERS, KeyStroke, key_stroke

MouseButton = Literal["left", "right", "middle"]
Send = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Sends a command to the tab and waits for its result."""

_BUTTON_MASK = {"left": 1, "right": 2, "middle": 4}


class Input:
    """Points are in CSS pixels from the top left corner of the viewport."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def move_mouse(self, x: float, y: float, *, pressed: bool = False) -> None:
        """Move the pointer, with the left button down or not."""
        await self._mouse("mouseMoved", x, y, button="left" if pressed else None)

    async def click(
        self, x: float, y: float, *, button: MouseButton = "left", count: int = 1
    ) -> None:
        """Click ``count`` times at one point."""
        sends = [self._mouse("mouseMoved", x, y)]
        for nth in range(1, count + 1):
            sends.append(self._mouse("mousePressed", x, y, button=button, count=nth))
            sends.append(self._mouse("mouseReleased", x, y, button=button, count=nth))
        # Sent without waiting in between: the browser keeps the order.
        await asyncio.gather(*sends)

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press at one point, move to another in steps, release there."""
        await self._mouse("mouseMoved", *start)
        await self._mouse("mousePressed", *start, button="left", count=1)
        for part in (0.25, 0.5, 0.75, 1.0):
            x, y = (a + (b - a) * part for a, b in zip(start, end, strict=True))
            await self.move_mouse(x, y, pressed=True)
        await self._mouse("mouseReleased", *end, button="left", count=1)

    async def scroll(self, x: float, y: float, *, dx: float, dy: float) -> None:
        """Turn the wheel over a point, by pixels."""
        await self._send(
            "Input.dispatchMouseEvent",
            {"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy},
        )

    async def press(self, keys: tuple[str, ...]) -> None:
        """Press keys together and release them in the opposite order.

        Raises:
            InvalidAction: If there is no such key.
        """
        strokes = [key_stroke(key) for key in keys]
        sends = []
        held = 0
        for stroke in strokes:
            held |= MODIFIERS.get(stroke.key, 0)
            sends.append(self._key(stroke, is_down=True, modifiers=held))
        for stroke in reversed(strokes):
            held &= ~MODIFIERS.get(stroke.key, 0)
            sends.append(self._key(stroke, is_down=False, modifiers=held))
        await asyncio.gather(*sends)

    async def type(self, text: str) -> None:
        """Type text key by key; a newline is Enter, a tab is Tab."""
        names = {"\n": "Enter", "\r": "Enter", "\t": "Tab"}
        sends = []
        for character in text.replace("\r\n", "\n"):
            if character not in names and not character.isprintable():
                continue
            stroke = key_stroke(names.get(character, character))
            sends.append(self._key(stroke, is_down=True))
            sends.append(self._key(stroke, is_down=False))
        await asyncio.gather(*sends)

    async def _key(
        self, stroke: KeyStroke, *, is_down: bool, modifiers: int = 0
    ) -> None:
        event = stroke.event(is_down=is_down, modifiers=modifiers)
        await self._send("Input.dispatchKeyEvent", event)

    async def _mouse(
        self,
        kind: str,
        x: float,
        y: float,
        *,
        button: MouseButton | None = None,
        count: int = 0,
    ) -> None:
        params: dict[str, Any] = {"type": kind, "x": x, "y": y, "clickCount": count}
        if button is not None:
            params["button"] = button
            params["buttons"] = 0 if kind == "mouseReleased" else _BUTTON_MASK[button]
        await self._send("Input.dispatchMouseEvent", params)
