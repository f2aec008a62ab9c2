"""One Chromium that all slots of a process share; a page of it is a slot."""

import contextlib
from collections.abc import Sequence
from typing import Self

from environments.browser.chromium import Chromium
from environments.browser.devtools import DevTools
from environments.browser.page import Page, Viewport
from environments.errors import EnvironmentFault, StartFault
from studio.common.closing import AsyncClosing


class BrowserHost(AsyncClosing):
    """A browser and the connection to it."""

    def __init__(self) -> None:
        self._chromium: Chromium | None = None
        self._devtools: DevTools | None = None

    async def start(self) -> None:
        """Start the browser.

        Raises:
            StartFault: If it does not come up.
        """
        try:
            self._chromium = await Chromium.launch()
            self._devtools = await DevTools.connect(self._chromium.url)
        except BaseException:
            await self.close()
            raise

    @property
    def is_alive(self) -> bool:
        """Return whether pages can be opened."""
        return (
            self._chromium is not None
            and self._chromium.is_running
            and self._devtools is not None
            and self._devtools.is_open
        )

    @property
    def pid(self) -> int | None:
        """Return the browser's process id."""
        return self._chromium.pid if self._chromium else None

    async def open_page(
        self,
        viewport: Viewport,
        *,
        script: str = "",
        hosts: Sequence[str] | None = None,
    ) -> Page:
        """Open a page, in UTC and American English.

        Args:
            viewport: Its size.
            script: Runs in every new document before its own scripts.
            hosts: What it may reach, as ``host:port``; None is everything.

        Raises:
            StartFault: If the browser is not there or refuses.
        """
        if self._devtools is None or not self.is_alive:
            raise StartFault("the browser is not running")
        try:
            page = await Page.open(
                self._devtools, viewport=viewport, script=script, hosts=hosts
            )
            # Some pages show dates and times in the way of the place where they are.
            await page.send("Emulation.setTimezoneOverride", {"timezoneId": "UTC"})
            await page.send("Emulation.setLocaleOverride", {"locale": "en-US"})
            return page
        except EnvironmentFault as error:
            raise StartFault(f"cannot open a page: {error}") from error

    async def close(self) -> None:
        """Kill the browser with its whole process tree; may be called twice."""
        if self._devtools is not None:
            with contextlib.suppress(EnvironmentFault):
                await self._devtools.close()
            self._devtools = None
        if self._chromium is not None:
            await self._chromium.kill()
            self._chromium = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self
