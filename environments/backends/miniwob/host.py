"""What all MiniWoB slots of a process share: one browser and one web server."""

from environments.backends.miniwob.scripts import IN_EVERY_DOCUMENT
from environments.backends.miniwob.site import Site
from environments.backends.miniwob.tasks import HEIGHT, PAGES, WIDTH
from environments.browser.host import BrowserHost
from environments.browser.page import Page, Viewport
from environments.errors import StartFault


class MiniWobHost(BrowserHost):
    """The browser, and the server of the pages."""

    def __init__(self) -> None:
        super().__init__()
        self._site: Site | None = None

    async def start(self) -> None:
        """Start the browser and the server.

        Raises:
            StartFault: If either does not come up.
        """
        self._site = Site()
        await super().start()

    async def open_task_page(self) -> Page:
        """Open a page that is ready for any task.

        Raises:
            StartFault: If the browser is not there or refuses.
        """
        return await self.open_page(
            Viewport(width=WIDTH, height=HEIGHT), script=IN_EVERY_DOCUMENT
        )

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
        await super().close()
        if self._site is not None:
            self._site.close()
            self._site = None
