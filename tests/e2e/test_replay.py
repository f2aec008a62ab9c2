from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import Visitor, keep_picture
from tests.e2e.runs import everything

pytestmark = pytest.mark.e2e


def first_with_different_screens(
    api: httpx.Client, page: Page
) -> tuple[str, list[dict[str, Any]]]:
    """Return the first trajectory on a page whose screen changed, and its steps."""
    links = page.locator("tbody th a").all()
    for path in [str(link.get_attribute("href")) for link in links]:
        steps = api.get(f"{path}steps/").json()["steps"]
        if steps[0]["screen"] != steps[-1]["screen"]:
            return path, list(steps)
    raise AssertionError("no action changed a screen")


def shown_screen(page: Page) -> str:
    return str(page.locator("[data-screen-image]").get_attribute("src"))


def test_a_replay_is_stepped_through_by_keys(
    visitor: Visitor, api: httpx.Client, small_run: dict[str, Any]
):
    page = visitor.open(f"/runs/{small_run['id']}/trajectories/?order=-steps")
    keep_picture(page, "run-trajectories")
    path, steps = first_with_different_screens(api, page)
    last = len(steps)
    assert last >= 2
    page.locator(f"a[href='{path}']").click()
    page.wait_for_url(f"**{path}")
    number = page.locator("[data-step-number]")
    expect(number).to_have_text("1")
    assert steps[0]["screen"]["sha256"] in shown_screen(page)

    for key, expected in (
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("ArrowLeft", 1),
        ("End", last),
        ("ArrowRight", last),
        ("Home", 1),
        ("End", last),
    ):
        page.keyboard.press(key)

        expect(number).to_have_text(str(expected))
        assert page.url.endswith(f"#step-{expected}")
        assert steps[expected - 1]["screen"]["sha256"] in shown_screen(page)
        expect(page.locator("[data-step-card] .answer")).to_have_text(
            steps[expected - 1]["text"] or "(empty)"
        )
    loaded = "() => document.querySelector('[data-screen-image]').naturalWidth"
    assert page.evaluate(loaded) == steps[-1]["screen"]["width"] == 160


def test_a_replay_draws_each_action_where_it_was(
    visitor: Visitor, api: httpx.Client, small_run: dict[str, Any]
):
    rows = everything(api, "/trajectories/", run=small_run["id"], status="finished")
    row, number, click = next(
        (row, number, step["executed_px"])
        for row in rows
        for number, step in enumerate(
            api.get(f"/trajectories/{row['id']}/steps/").json()["steps"], start=1
        )
        if step["action"] and step["action"]["kind"] == "click"
    )

    page = visitor.open(f"/trajectories/{row['id']}/#step-{number}")

    expect(page.locator("[data-step-number]")).to_have_text(str(number))
    ring = page.locator("[data-overlay-target] circle.mark")
    expect(ring).to_be_visible()
    # Fractions of the screen are rounded to a pixel only when the action is executed.
    assert float(ring.get_attribute("cx") or 0) == pytest.approx(click["x"], abs=1)
    assert float(ring.get_attribute("cy") or 0) == pytest.approx(click["y"], abs=1)
    keep_picture(page, "trajectory")

    page.get_by_role("button", name="After").click()
    expect(ring).to_have_count(0)
