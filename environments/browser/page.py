"""One tab: go somewhere, run a script, take a picture; ``input`` points and types."""

import asyncio
import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from PIL import Image

from environments.browser.devtools import DevTools
from environments.browser.input import Input
from environments.errors import EnvironmentFault, StepFault

# Nothing listens on the discard port: what is sent to this proxy goes nowhere.
_NOWHERE: Final = "http://127.0.0.1:9"


@dataclass(frozen=True, kw_only=True, slots=True)
class Viewport:
    """What of a page is to be seen, in CSS pixels."""

    width: int
    height: int
    scale: float = 1
    """Pixels of the picture per CSS pixel."""


class Page:
    """A tab in a browser context of its own, so that nothing is shared with others."""

    def __init__(
        self, *, devtools: DevTools, context: str, target: str, session: str
    ) -> None:
        self._devtools = devtools
        self._context = context
        self._target = target
        self._session = session
        self.input = Input(self.send)
        """Its mouse and keyboard."""
        self._is_loaded = asyncio.Event()
        self._background: set[asyncio.Task[Any]] = set()
        devtools.on(session, "Page.loadEventFired", lambda _: self._is_loaded.set())
        devtools.on(session, "Page.javascriptDialogOpening", self._accept_dialog)

    @classmethod
    async def open(
        cls,
        devtools: DevTools,
        *,
        viewport: Viewport,
        script: str = "",
        hosts: Sequence[str] | None = None,
    ) -> "Page":
        """Open a tab.

        Args:
            devtools: The browser's connection.
            viewport: Its size.
            script: Runs in every new document before its own scripts.
            hosts: What it may reach, as ``host:port``; None is everything.
        """
        context = (await devtools.send("Target.createBrowserContext", _only_to(hosts)))[
            "browserContextId"
        ]
        target = (
            await devtools.send(
                "Target.createTarget",
                {
                    "url": "about:blank",
                    "browserContextId": context,
                    "width": viewport.width,
                    "height": viewport.height,
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
            page.resize(viewport),
            # Every tab believes itself in front: focus events and carets work in all.
            page.send("Emulation.setFocusEmulationEnabled", {"enabled": True}),
        )
        return page

    async def resize(self, viewport: Viewport) -> None:
        """Give the tab another size."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": viewport.width,
                "height": viewport.height,
                "deviceScaleFactor": viewport.scale,
                "mobile": False,
            },
        )

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

    async def close(self) -> None:
        """Close the tab and throw its context away, also if the page hangs."""
        self._devtools.forget(self._session)
        for task in self._background:
            task.cancel()
        if self._devtools.is_open:
            await self._devtools.send(
                "Target.disposeBrowserContext", {"browserContextId": self._context}
            )

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


def _only_to(hosts: Sequence[str] | None) -> dict[str, Any]:
    """Return the settings of a browser context whose network ends at an allow-list."""
    if hosts is None:
        return {}
    # A proxy that is not there, and who is reached without it. Unlike an interception
    # of requests this also holds web sockets, workers and redirects.
    return {
        "proxyServer": _NOWHERE,
        "proxyBypassList": ";".join(["<-loopback>", *hosts]),
    }
