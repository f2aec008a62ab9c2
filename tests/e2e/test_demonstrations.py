import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import demonstrations
from tests.e2e.browser import PATIENCE_MS, Visitor, keep_picture
from tests.e2e.runs import everything, wait_until_over

pytestmark = pytest.mark.e2e

REASON = "'screens/lost.png' is not in images.zip"


def test_an_upload_from_the_page_becomes_a_data_set_that_a_run_learns_from(
    visitor: Visitor, api: httpx.Client
):
    rows, images = demonstrations.upload(num_good=24)
    page = visitor.open("/datasets/new/")
    page.get_by_label("Name").fill("squares")
    page.locator("[name='rows']").set_input_files(
        {"name": "rows.jsonl", "mimeType": "application/json", "buffer": rows}
    )
    page.locator("[name='images']").set_input_files(
        {"name": "images.zip", "mimeType": "application/zip", "buffer": images}
    )
    expect(page.locator("[data-chosen]").first).to_contain_text("rows.jsonl")
    keep_picture(page, "dataset-new")
    page.get_by_role("button", name="Upload and check").click()

    page.wait_for_url(re.compile(r"/datasets/[0-9a-f-]{36}/$"))
    expect(page.locator("#r-dataset-head .badge")).to_have_text(
        re.compile("ready", re.I)
    )
    for label, number in (("Read", "25"), ("Kept", "24"), ("Rejected", "1")):
        metric = page.locator(".metric", has=page.get_by_text(label, exact=True))
        expect(metric.locator(".metric-value")).to_have_text(number)
    cells = page.locator("section[aria-labelledby='h-err'] tbody tr td")
    expect(cells).to_have_text(["rows.jsonl", "3", "images[0]", REASON])
    expect(page.locator(".sample img").first).to_be_visible()
    keep_picture(page, "dataset")

    page.get_by_role("link", name="Train on it").click()
    expect(page.locator("#f-dataset option:checked")).to_have_text("squares, 24 rows")
    page.locator("[name='name']").fill("from demonstrations")
    for path, value in (
        ("max_optimizer_steps", "6"),
        ("batch_rows", "8"),
        ("checkpoint_every", "3"),
        ("optimizer.warmup_steps", "0"),
    ):
        page.locator(f"[name='{path}']").fill(value)
    keep_picture(page, "run-new-sft")
    page.get_by_role("button", name="Start the run").click()

    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/$"))
    run_id = page.url.split("/")[-2]
    status = page.locator("#r-title .badge")
    expect(status).to_have_text(re.compile("succeeded", re.I), timeout=PATIENCE_MS)
    page.wait_for_timeout(500)  # For the picture only: the last point is drawn.
    keep_picture(page, "run-sft")
    run = wait_until_over(api, run_id)
    assert (run["status"], run["optimizer_step"]) == ("succeeded", 6)
    checkpoints = everything(api, f"/runs/{run_id}/checkpoints/")
    assert checkpoints[0]["step"] == 6
    assert {one["status"] for one in checkpoints} == {"ready"}
    measured = api.get(f"/runs/{run_id}/metrics/").json()["rows"]
    assert [row["step"] for row in measured if row["source"] == "trainer"] == [
        *range(1, 7)
    ]
    first, last = measured[0]["values"], measured[-1]["values"]
    assert last["sft/loss"] < first["sft/loss"]


def test_an_upload_that_is_no_data_set_is_refused_with_its_reason(
    visitor: Visitor, api: httpx.Client
):
    page = visitor.open("/datasets/new/")
    page.get_by_label("Name").fill("not rows")
    page.locator("[name='rows']").set_input_files(
        {"name": "rows.jsonl", "mimeType": "application/json", "buffer": b"not JSON\n"}
    )
    page.get_by_role("button", name="Upload and check").click()

    page.wait_for_url(re.compile(r"/datasets/[0-9a-f-]{36}/$"))
    badge = page.locator("#r-dataset-head .badge")
    expect(badge).to_have_text(re.compile("rejected", re.I), timeout=PATIENCE_MS)
    expect(page.locator("section[aria-labelledby='h-err'] tbody tr")).to_have_count(1)
    expect(page.get_by_role("link", name="Train on it")).to_have_count(0)
    keep_picture(page, "dataset-rejected")
