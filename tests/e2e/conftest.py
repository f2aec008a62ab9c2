"""One studio and one browser for all tests of this folder, and what they begin with."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, StorageState, sync_playwright

from tests.e2e import demonstrations
from tests.e2e.browser import Visitor, launch
from tests.e2e.runs import SMALL, start_run, wait_until_over
from tests.e2e.studio import Studio, wait_for

# Of the package, not of the session: the tests that follow need the cores, and
# Playwright's event loop would be in the way of theirs.


@pytest.fixture(scope="package")
def studio() -> Iterator[Studio]:
    """Run a studio; at its end nothing of it may be left."""
    # A short path: the socket of its Redis lies below it.
    studio = Studio(Path(tempfile.mkdtemp(prefix="oche-e2e-", dir="/tmp")))
    try:
        studio.wait_until_ready()
        studio.settle_in()
        yield studio
        assert studio.stop() == []
    finally:
        studio.destroy()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Run a browser."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def session(studio: Studio, browser: Browser) -> StorageState:
    """Return the cookies of somebody who has signed in."""
    context = browser.new_context()
    link = studio.manage("sign_in_link", "--address", studio.address).strip()
    context.new_page().goto(link)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def stranger(studio: Studio, browser: Browser) -> Iterator[Visitor]:
    """Return somebody who has not signed in; whatever goes wrong fails the test."""
    yield from _visit(Visitor(browser.new_context(), studio.address))


@pytest.fixture
def visitor(
    studio: Studio, browser: Browser, session: StorageState
) -> Iterator[Visitor]:
    """Return somebody who has signed in; whatever goes wrong fails the test."""
    context = browser.new_context(storage_state=session)
    yield from _visit(Visitor(context, studio.address))


def _visit(visitor: Visitor) -> Iterator[Visitor]:
    yield visitor
    visitor.context.close()
    assert visitor.complaints == []


@pytest.fixture
def api(studio: Studio) -> Iterator[httpx.Client]:
    """Return the administrator's client of the REST API."""
    with studio.api() as client:
        yield client


@pytest.fixture(scope="package")
def small_run(studio: Studio) -> dict[str, Any]:
    """Return a run of two optimizer steps that has come to its end."""
    with studio.api() as client:
        run = start_run(client, name="small", preset="quickstart", overrides=SMALL)
        return wait_until_over(client, run["id"])


@pytest.fixture(scope="package")
def small_dataset(studio: Studio) -> dict[str, Any]:
    """Return a data set of eight rows, one more of which was kept out."""
    rows, images = demonstrations.upload(num_good=8)
    with studio.api() as client:
        made = client.post(
            "/datasets/",
            data={"name": "small"},
            files={"rows": ("rows.jsonl", rows), "images": ("images.zip", images)},
        )
        assert made.status_code == 201, made.text
        path = f"/datasets/{made.json()['id']}/"

        def ready() -> dict[str, Any] | None:
            found = client.get(path).json()
            return dict(found) if found["status"] == "ready" else None

        return wait_for(ready, what="the data set is ready")
