"""Pages of a real Chromium whose complaints are noted."""

import os
from dataclasses import dataclass, field

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    Response,
    expect,
)

from environments.browser.chromium import find_chromium
from tests.e2e.studio import ARTEFACTS, MOMENT_S, PATIENCE_S, wait_for

expect.set_options(timeout=MOMENT_S * 1000)
PATIENCE_MS = PATIENCE_S * 1000

TALL = """() => {
  scrollTo(0, 0);
  return Math.max(innerHeight, document.documentElement.scrollHeight);
}"""
UNDRAWN = """() => [...document.querySelectorAll("[data-chart]")].some(
  (chart) => !chart.querySelector(".plot-wait, .plot-container"))"""
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def launch(playwright: Playwright) -> Browser:
    """Start the browser that the product would start."""
    # Chromium refuses to build its sandbox for root, the usual user in a container.
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    return playwright.chromium.launch(
        executable_path=str(find_chromium()), args=[*as_root, *FLAGS]
    )


@dataclass
class Visitor:
    """Somebody at a browser, and everything that went wrong before their eyes."""

    context: BrowserContext
    address: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Open a page of the studio in a tab of its own."""
        page = self.context.new_page()
        page.set_default_timeout(MOMENT_S * 1000)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self._complain(page, f"error: {error}"))
        page.on("response", self._look_at)
        page.on("requestfailed", self._miss)
        page.goto(self.address + path)
        return page

    def _complain(self, page: Page | None, what: str) -> None:
        self.complaints.append(f"{page.url if page else '?'}: {what}")

    def _hear(self, told: ConsoleMessage) -> None:
        if told.type == "error":
            self._complain(told.page, f"console: {told.text} {told.location}")

    def _look_at(self, response: Response) -> None:
        if response.status >= 500:
            self.complaints.append(f"{response.status}: {response.url}")

    def _miss(self, request: Request) -> None:
        # A page that is left breaks off what it had asked for.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"{request.failure}: {request.url}")


def keep_picture(page: Page, name: str) -> None:
    """Keep what the whole page looks like, for people to look at."""
    path = ARTEFACTS / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    assert size
    # What lies out of sight is drawn when it comes into sight.
    height = int(page.evaluate(TALL))
    page.set_viewport_size({"width": size["width"], "height": height})
    wait_for_script(page, f"() => !({UNDRAWN})()", what="every chart is drawn")
    page.screenshot(path=path)
    page.set_viewport_size(size)


def wait_for_script(
    page: Page, script: str, *, what: str, timeout_s: float = PATIENCE_S
) -> object:
    """Return the first true value of an expression.

    ``page.wait_for_function`` would need the ``eval`` that the pages forbid.
    """
    return wait_for(
        lambda: page.evaluate(script),
        what=what,
        timeout_s=timeout_s,
        # Lets Playwright hear what the page says meanwhile.
        pause=lambda seconds: page.wait_for_timeout(seconds * 1000),
    )
