"""The cluster's page beside a real worker: drained, resumed, restarted, killed."""

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import Visitor, keep_picture
from tests.e2e.studio import Studio, wait_for

pytestmark = pytest.mark.e2e


def worker_of(api: httpx.Client) -> dict[str, object]:
    """Return the studio's environment worker."""
    (worker,) = api.get("/cluster/").json()["workers"]
    return dict(worker)


def wait_for_state(api: httpx.Client, state: str) -> dict[str, object]:
    def found() -> dict[str, object] | None:
        workers = api.get("/cluster/").json()["workers"]
        return next((one for one in workers if one["state"] == state), None)

    return wait_for(found, what=f"the worker is {state}")


def row(page: Page):
    """Return the environment worker's row."""
    return page.locator("tr[data-worker-row^='environments@']")


@pytest.fixture
def page(visitor: Visitor, api: httpx.Client) -> Page:
    wait_for_state(api, "serving")
    page = visitor.open("/")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Cluster", exact=True)).to_be_visible()
    return page


def ask(page: Page, what: str) -> None:
    """Choose an action of the environment worker, and confirm it where one must."""
    row(page).get_by_role("button", name=what).click()
    if what != "Resume":
        dialog = page.locator("dialog[open]")
        expect(dialog).to_contain_text("environments@")
        dialog.get_by_role("button", name=what).click()
    expect(page.locator(".toast")).to_contain_text("environments@")


def test_a_worker_is_drained_and_resumed(page: Page, api: httpx.Client):
    ask(page, "Drain")
    expect(row(page)).to_contain_text("Drained")
    assert api.get("/cluster/").json()["totals"]["slots"] == 0
    keep_picture(page, "cluster-drained-light")

    evaluation = api.post(
        "/evaluations/",
        json={"policy": "oracle", "tasks": ["miniwob/click-test"], "num_episodes": 3},
    ).json()
    # It is drained for two renewals, and has still not begun.
    page.wait_for_timeout(5000)
    assert api.get(f"/evaluations/{evaluation['id']}/").json()["num_finished"] == 0
    ask(page, "Resume")
    expect(row(page)).to_contain_text("Healthy")

    wait_for(
        lambda: (
            api.get(f"/evaluations/{evaluation['id']}/").json()["status"] == "finished"
        ),
        what="the evaluation that waited",
    )
    assert worker_of(api)["slots"]
    expect(page.locator("#r-events")).to_contain_text("takes episodes again")


def test_a_restarted_worker_comes_back_as_another_process(
    page: Page, api: httpx.Client
):
    before = worker_of(api)

    ask(page, "Restart")

    wait_for(
        lambda: wait_for_state(api, "serving")["pid"] != before["pid"],
        what="the next life of the worker",
    )
    after = worker_of(api)
    assert after["name"] == before["name"]
    assert after["fence"] == int(str(before["fence"])) + 1
    expect(row(page)).to_contain_text(str(after["pid"]))
    expect(row(page)).to_contain_text("Healthy")
    expect(page.locator("[data-freshness-text]")).to_contain_text("Live")


def test_a_killed_worker_is_replaced_and_told_of(
    page: Page, api: httpx.Client, studio: Studio
):
    before = worker_of(api)

    assert studio.kill("celery", "-Q rollouts") == before["pid"]

    wait_for(
        lambda: worker_of(api)["fence"] != before["fence"],
        what="the next life of the worker",
    )
    expect(page.locator("#r-events")).to_contain_text(
        re.compile(rf"process {before['pid']}\) said no goodbye")
    )


def test_what_the_page_looks_like(visitor: Visitor, page: Page):
    keep_picture(page, "cluster-light")
    page.emulate_media(color_scheme="dark")
    keep_picture(page, "cluster-dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    keep_picture(page, "cluster-phone")

    width = page.evaluate("document.documentElement.scrollWidth")

    assert width == 390


def test_who_is_not_staff_sees_the_cluster_and_asks_nothing(studio: Studio):
    with studio.api("mallory") as mallory:
        seen = mallory.get("/cluster/")
        name = seen.json()["workers"][0]["name"]

        refused = mallory.post(f"/cluster/workers/{name}/drain/")

    assert seen.status_code == 200
    assert refused.status_code == 403
