"""What all MiniWoB slots of a process share: one browser and one web server."""

import contextlib
from typing import Self

from environments.backends.miniwob.scripts import IN_EVERY_DOCUMENT
from environments.backends.miniwob.site import Site
from environments.backends.miniwob.tasks import HEIGHT, PAGES, WIDTH
from environments.browser.chromium import Chromium
from environments.browser.devtools import DevTools
from environments.browser.page import Page
from environments.errors import EnvironmentFault, StartFault
from studio.common.closing import AsyncClosing


class MiniWobHost(AsyncClosing):
    """One Chromium; a page of it is a slot."""

    def __init__(self) -> None:
        self._site: Site | None = None
        self._chromium: Chromium | None = None
        self._devtools: DevTools | None = None

    async def start(self) -> None:
        """Start the browser and the server.

        Raises:
            StartFault: If either does not come up.
        """
        try:
            self._site = Site()
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

    async def open_page(self) -> Page:
        """Open a page.

        Raises:
            StartFault: If the browser is not there or refuses.
        """
        if self._devtools is None or not self.is_alive:
            raise StartFault("the browser is not running")
        try:
            page = await Page.open(
                self._devtools, width=WIDTH, height=HEIGHT, script=IN_EVERY_DOCUMENT
            )
            # Some pages show dates and times in the way of the place where they are.
            await page.send("Emulation.setTimezoneOverride", {"timezoneId": "UTC"})
            await page.send("Emulation.setLocaleOverride", {"locale": "en-US"})
            return page
        except EnvironmentFault as error:
            raise StartFault(f"cannot open a page: {error}") from error

    def url(self, task: str) -> str:
        """Return the address of a task's page.

        Raises:
            StartFault: If the host has not been started.
        """
        if self._site is None:
            raise StartFault("the web server is not running")
        return self._site.url(PAGES[task].path)

    async def close(self) -> None:
        """Kill the browser with its whole process tree; may be called twice."""
        if self._devtools is not None:
            with contextlib.suppress(EnvironmentFault):
                await self._devtools.close()
            self._devtools = None
        if self._chromium is not None:
            await self._chromium.kill()
            self._chromium = None
        if self._site is not None:
            self._site.close()
            self._site = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self
