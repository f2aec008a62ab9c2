"""One tab: go somewhere, run a script, point, type, take a picture."""

import asyncio
import base64
import io
from typing import Any, Literal

from PIL import Image

from environments.browser.devtools import DevTools
from environments.browser.keyboard import MODIFIERS, KeyStroke, key_stroke
from environments.errors import EnvironmentFault, StepFault

MouseButton = Literal["left", "right", "middle"]

_BUTTON_MASK = {"left": 1, "right": 2, "middle": 4}


class Page:
    """A tab in a browser context of its own, so that nothing is shared with others."""

    def __init__(
        self, *, devtools: DevTools, context: str, target: str, session: str
    ) -> None:
        self._devtools = devtools
        self._context = context
        self._target = target
        self._session = session
        self._is_loaded = asyncio.Event()
        self._background: set[asyncio.Task[Any]] = set()
        devtools.on(session, "Page.loadEventFired", lambda _: self._is_loaded.set())
        devtools.on(session, "Page.javascriptDialogOpening", self._accept_dialog)

    @classmethod
    async def open(
        cls, devtools: DevTools, *, width: int, height: int, script: str = ""
    ) -> "Page":
        """Open a tab.

        Args:
            devtools: The browser's connection.
            width: Viewport in CSS pixels, which are the picture's pixels.
            height: Viewport in CSS pixels.
            script: Runs in every new document before its own scripts.
        """
        context = (await devtools.send("Target.createBrowserContext"))[
            "browserContextId"
        ]
        target = (
            await devtools.send(
                "Target.createTarget",
                {
                    "url": "about:blank",
                    "browserContextId": context,
                    "width": width,
                    "height": height,
                },
            )
        )["targetId"]
        session = (
            await devtools.send(
                "Target.attachToTarget", {"targetId": target, "flatten": True}
            )
        )["sessionId"]
        page = cls(devtools=devtools, context=context, target=target, session=session)
        await asyncio.gather(
            page.send("Page.enable"),
            page.send("Page.addScriptToEvaluateOnNewDocument", {"source": script}),
            page.send(
                "Emulation.setDeviceMetricsOverride",
                {
                    "width": width,
                    "height": height,
                    "deviceScaleFactor": 1,
                    "mobile": False,
                },
            ),
            # Every tab believes itself in front: focus events and carets work in all.
            page.send("Emulation.setFocusEmulationEnabled", {"enabled": True}),
        )
        return page

    async def send(
        self, method: str, params: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Send a command to this tab and return its result."""
        return await self._devtools.send(method, params, self._session)

    async def navigate(self, url: str) -> None:
        """Go to an address and wait until it has loaded.

        Raises:
            StepFault: If it cannot be reached.
        """
        self._is_loaded.clear()
        answer = await self.send("Page.navigate", {"url": url})
        if answer.get("errorText"):
            raise StepFault(f"cannot open {url}: {answer['errorText']}")
        await self._is_loaded.wait()

    async def evaluate(self, script: str) -> Any:
        """Return a script's value (JSON); promises are waited for.

        Raises:
            StepFault: If the script throws.
        """
        answer = await self.send(
            "Runtime.evaluate",
            {"expression": script, "returnByValue": True, "awaitPromise": True},
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            what = details.get("exception", {}).get("description") or details.get(
                "text"
            )
            raise StepFault(f"the page's script failed: {what}")
        return answer["result"].get("value")

    async def screenshot(self) -> Image.Image:
        """Return the viewport as it is now, RGB."""
        answer = await self.send(
            "Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True}
        )
        picture = Image.open(io.BytesIO(base64.b64decode(answer["data"])))
        return picture.convert("RGB")

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
        await self.send(
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

    async def close(self) -> None:
        """Close the tab and throw its context away, also if the page hangs."""
        self._devtools.forget(self._session)
        for task in self._background:
            task.cancel()
        if self._devtools.is_open:
            await self._devtools.send(
                "Target.disposeBrowserContext", {"browserContextId": self._context}
            )

    async def _key(
        self, stroke: KeyStroke, *, is_down: bool, modifiers: int = 0
    ) -> None:
        event = stroke.event(is_down=is_down, modifiers=modifiers)
        await self.send("Input.dispatchKeyEvent", event)

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
        await self.send("Input.dispatchMouseEvent", params)

    def _accept_dialog(self, _: dict[str, Any]) -> None:
        task = asyncio.create_task(self._answer_dialog())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _answer_dialog(self) -> None:
        try:
            await self.send("Page.handleJavaScriptDialog", {"accept": True})
        except EnvironmentFault:
            # The page went away with its dialog; whoever uses it will notice.
            return
