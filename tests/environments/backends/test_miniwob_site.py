import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from environments.backends.miniwob.site import OUR_PAGES, Site, package_pages
from environments.backends.miniwob.tasks import PAGES, TASKS


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_official_pages_are_the_package_s_own_and_the_rest_are_ours(task, site: Site):
    path = PAGES[task.name].path
    file = package_pages() / path if task.is_official else OUR_PAGES / Path(path).name

    assert _get(site.url(path)) == file.read_bytes()


def test_no_page_of_ours_replaces_one_of_theirs():
    theirs = {page.name for page in (package_pages() / "miniwob").iterdir()}

    assert not theirs & {page.name for page in OUR_PAGES.iterdir()}


@pytest.mark.parametrize("path", ["", "core/", "%2e%2e/%2e%2e/__init__.py", "no.html"])
def test_nothing_else_is_served(path: str, site: Site):
    root = site.url("miniwob/x.html").removesuffix("miniwob/x.html")

    with pytest.raises(urllib.error.HTTPError, match="404"):
        _get(root + path)
