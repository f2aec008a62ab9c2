import re
from collections.abc import Sequence

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import PATIENCE_MS, Visitor, keep_picture, wait_for_script
from tests.e2e.runs import TASKS, wait_until_over

pytestmark = pytest.mark.e2e

FRAMES_OF_ONE_SCREEN = """() => {
  window.framesOf ??= new Map();
  let most = 0;
  for (const tile of document.querySelectorAll("[data-wall] .tile")) {
    const frames = window.framesOf.get(tile) ?? new Set();
    window.framesOf.set(tile, frames);
    const image = tile.querySelector("img");
    if (image.naturalWidth === 160) frames.add(image.src);
    most = Math.max(most, frames.size);
  }
  return most;
}"""
POINTS_DRAWN = """() => Math.max(0, ...[...document.querySelectorAll("[data-chart]")].map(
  (chart) => chart.querySelectorAll(".scatterlayer .point").length))"""
WAITING_BEHIND_A_CHART = """() =>
  document.querySelectorAll("[data-chart]:has(.plot-container) .plot-wait").length"""


def start_from_the_form(visitor: Visitor, tasks: Sequence[str], **values: str) -> Page:
    page = visitor.open("/runs/new/?preset=quickstart")
    for box in page.locator("[name='tasks']").all():
        name = str(box.get_attribute("value")).removeprefix("miniwob/")
        box.set_checked(name in tasks)
    for path, value in values.items():
        page.locator(f"[name='{path}']").fill(value)
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/$"))
    return page


def test_a_run_started_from_the_page_moves_before_the_eyes_and_stops_when_told(
    visitor: Visitor, api: httpx.Client
):
    overview = start_from_the_form(
        visitor,
        TASKS,
        **{
            "name": "from the page",
            "max_optimizer_steps": "500",
            "stop_at_success": "0",
            "grpo.groups_per_step": "2",
            "grpo.group_size": "4",
            "rollout.max_steps": "6",
        },
    )
    run_id = overview.url.split("/")[-2]
    status = overview.locator("#r-title .badge")
    expect(overview.locator("h1")).to_have_text("from the page")
    expect(status).to_have_text(re.compile("queued|starting|running", re.I))
    overview.evaluate("window.isStillTheSamePage = true")
    assert overview.evaluate(POINTS_DRAWN) == 0

    live = visitor.open(f"/runs/{run_id}/live/")
    wait_for_script(
        live,
        f"() => ({FRAMES_OF_ONE_SCREEN})() >= 2",
        what="a second picture on one screen",
    )
    wait_for_script(
        live,
        "() => document.querySelector('[data-wall] .overlay .mark')",
        what="an action drawn over a screen",
    )
    keep_picture(live, "run-live")

    overview.locator("[data-chart]").first.scroll_into_view_if_needed()
    wait_for_script(overview, f"() => ({POINTS_DRAWN})() >= 1", what="a first point")
    assert overview.evaluate(WAITING_BEHIND_A_CHART) == 0
    expect(status).to_have_text(re.compile("running", re.I))
    keep_picture(overview, "run-overview")

    overview.get_by_role("button", name="Stop").click()
    expect(status).to_have_text(re.compile("stopping|stopped", re.I))
    # The click has led here anew; from now on the page follows by itself.
    overview.evaluate("window.isStillTheSamePage = true")
    expect(status).to_have_text(re.compile("stopped", re.I), timeout=PATIENCE_MS)
    expect(overview.get_by_role("button", name="Resume")).to_be_visible()
    assert overview.evaluate("window.isStillTheSamePage")
    assert wait_until_over(api, run_id)["status"] == "stopped"
    keep_picture(overview, "run-stopped")


def test_the_form_names_every_mistake_at_its_field_and_starts_nothing(
    visitor: Visitor, api: httpx.Client
):
    page = visitor.open("/runs/new/?preset=quickstart")
    page.locator("[name='name']").fill("never to be")
    page.locator("[name='grpo.group_size']").fill("1")
    page.locator("[name='optimizer.learning_rate']").fill("fast")
    page.get_by_role("button", name="Start the run").click()

    expect(page.locator(".field.has-error")).to_have_count(2)
    expect(page.get_by_text("2 problems")).to_be_visible()
    expect(page.locator("[name='grpo.group_size']")).to_have_value("1")
    assert api.get("/runs/", params={"name": "never to be"}).json()["count"] == 0
    keep_picture(page, "run-new-refused")
