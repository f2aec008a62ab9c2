from typing import Any, Literal

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import Visitor, keep_picture, wait_for_script

pytestmark = pytest.mark.e2e

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}
Theme = Literal["light", "dark"]
OVERFLOWING = """() => [...document.querySelectorAll("body *")].filter((element) => {
  for (let above = element.parentElement; above; above = above.parentElement) {
    if (getComputedStyle(above).overflowX !== "visible") return false;
  }
  return element.getBoundingClientRect().right > innerWidth + 1;
}).map((element) => `${element.tagName}.${element.className}`)"""
FITS = "() => document.documentElement.scrollWidth <= innerWidth"
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


def of_the_navigation(page: Page) -> dict[str, str]:
    """Return where the navigation leads within the studio, by what it says."""
    links = page.locator("nav.nav a.nav-link").all()
    return {
        link.inner_text().strip().lower(): str(link.get_attribute("href"))
        for link in links
        # Swagger's page is not ours; it has a test of its own.
        if not str(link.get_attribute("href")).startswith("/api/")
    }


def below_it(api: httpx.Client, run_id: str, dataset_id: str) -> dict[str, str]:
    """Return the pages that lie below those of the navigation."""
    query = {"run": run_id, "status": "finished", "ordering": "-reward"}
    trajectory = api.get("/trajectories/", params=query).json()["results"][0]["id"]
    return {
        "run-new": "/runs/new/",
        "run-new-sft": "/runs/new/?preset=sft",
        "run": f"/runs/{run_id}/",
        "run-live": f"/runs/{run_id}/live/",
        "run-trajectories": f"/runs/{run_id}/trajectories/",
        "run-config": f"/runs/{run_id}/config/",
        "trajectory": f"/trajectories/{trajectory}/",
        "task": "/tasks/miniwob/fill-nth/",
        "dataset-new": "/datasets/new/",
        "dataset": f"/datasets/{dataset_id}/",
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_has_one_heading_and_fits_a_phone(
    visitor: Visitor,
    api: httpx.Client,
    small_run: dict[str, Any],
    small_dataset: dict[str, Any],
    theme: Theme,
):
    below = below_it(api, small_run["id"], small_dataset["id"])
    page = visitor.open("/")
    page.emulate_media(color_scheme=theme)
    places = of_the_navigation(page)
    assert {"home", "runs", "trajectories", "tasks", "data sets"} <= set(places)
    wrong = []

    for name, path in (places | below).items():
        page.set_viewport_size(DESK)
        answer = page.goto(visitor.address + path)
        assert answer
        assert answer.status == 200, path
        expect(page.locator("h1")).to_have_count(1)
        keep_picture(page, f"pages/{theme}-{name}")
        page.set_viewport_size(PHONE)
        try:
            # Charts take a moment to follow the window.
            wait_for_script(page, FITS, what="it fits", timeout_s=10)
        except AssertionError:
            wrong.append((path, page.evaluate(OVERFLOWING)))
        keep_picture(page, f"pages/{theme}-phone-{name}")

    assert wrong == []


def test_the_theme_follows_the_system_until_somebody_chooses(visitor: Visitor):
    page = visitor.open("/")
    page.emulate_media(color_scheme="light")
    light = page.evaluate(BACKGROUND)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(BACKGROUND)
    assert light != dark

    page.get_by_role("button", name="Light", exact=True).click()
    page.goto(visitor.address + "/runs/")

    assert page.evaluate(BACKGROUND) == light


def test_an_address_that_leads_nowhere_says_so(visitor: Visitor):
    page = visitor.context.new_page()

    answer = page.goto(visitor.address + "/runs/00000000-0000-4000-8000-000000000000/")

    assert answer
    assert answer.status == 404
    expect(page.locator("h1")).to_have_count(1)
    keep_picture(page, "not-found")
