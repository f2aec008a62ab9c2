import io
import json
import zipfile
from typing import Any

import httpx
import pytest

from tests.e2e.runs import start_run, wait_until_over
from tests.e2e.studio import Studio

pytestmark = pytest.mark.e2e


def test_a_run_that_a_program_started_is_followed_by_its_measurements(
    api: httpx.Client, small_run: dict[str, Any]
):
    path = f"/runs/{small_run['id']}/metrics/"

    first = api.get(path, params={"after": 0, "limit": 1}).json()
    rest = api.get(path, params={"after": first["last_seq"]}).json()
    none = api.get(path, params={"after": rest["last_seq"]}).json()

    assert small_run["status"] == "succeeded", small_run["reason"]
    assert small_run["optimizer_step"] == 2
    rows = first["rows"] + rest["rows"]
    assert [row["seq"] for row in rows] == [*range(1, len(rows) + 1)]
    assert [row["step"] for row in rows if row["source"] == "trainer"] == [1, 2]
    assert all("actor/pg_loss" in r["values"] for r in rows if r["source"] == "trainer")
    assert none == {"rows": [], "last_seq": len(rows)}
    moves = api.get(f"/runs/{small_run['id']}/transitions/").json()["results"]
    assert [move["new_status"] for move in moves] == [
        *("queued", "starting", "running", "succeeded")
    ]


def test_a_trajectory_is_downloaded_whole(api: httpx.Client, small_run: dict[str, Any]):
    query = {"run": small_run["id"], "status": "finished", "ordering": "-num_steps"}
    row = api.get("/trajectories/", params=query).json()["results"][0]

    answer = api.get(f"/trajectories/{row['id']}/download/")

    assert answer.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        record_name = next(n for n in names if n.endswith("trajectory.json"))
        record = json.loads(archive.read(record_name))
    assert any(name.endswith("tokens.safetensors") for name in names)
    assert len(record["steps"]) == row["num_steps"]
    assert record["reward"] == row["reward"]
    for step in record["steps"]:
        frame = f"{step['screen']['sha256']}.webp"
        assert any(name.endswith(f"frames/{frame}") for name in names)
        picture = api.get(f"/trajectories/{row['id']}/frames/{frame}")
        assert picture.headers["Content-Type"] == "image/webp"


def test_an_upload_by_a_program_names_its_bad_row_and_trains_an_sft_run(
    api: httpx.Client, small_dataset: dict[str, Any]
):
    dataset = small_dataset
    counts = (dataset["num_read"], dataset["num_kept"], dataset["num_rejected"])
    assert counts == (9, 8, 1)
    assert dataset["errors"] == [
        {
            "file": "rows.jsonl",
            "line": 3,
            "field": "images[0]",
            "reason": "'screens/lost.png' is not in images.zip",
        }
    ]
    path = f"/datasets/{dataset['id']}/rows/"
    shown = api.get(path, params={"limit": 1}).json()["rows"]
    assert shown[0]["messages"][-1]["content"] == "<|click|><x5><y34>"
    overrides = {"dataset": dataset["id"], "max_optimizer_steps": 2, "batch_rows": 4}
    run = start_run(api, name="sft by REST", preset="sft", overrides=overrides)
    assert wait_until_over(api, run["id"])["status"] == "succeeded"
    checkpoints = api.get(f"/runs/{run['id']}/checkpoints/").json()["results"]
    assert checkpoints[0]["step"] == 2


def test_a_wrong_token_is_401_whatever_it_asks_for(
    studio: Studio, small_run: dict[str, Any]
):
    with studio.api(key="oche_wrong") as client:
        answers = [
            client.get("/me/"),
            client.get(f"/runs/{small_run['id']}/"),
            client.post("/runs/", json={"nonsense": True}),
        ]

    assert [answer.status_code for answer in answers] == [401, 401, 401]
    assert all(answer.headers["WWW-Authenticate"] for answer in answers)


def test_a_run_of_somebody_else_is_as_if_it_did_not_exist(
    studio: Studio, api: httpx.Client, small_run: dict[str, Any]
):
    query = {"run": small_run["id"], "status": "finished"}
    theirs = api.get("/trajectories/", params=query).json()["results"][0]["id"]
    run = f"/runs/{small_run['id']}"

    with studio.api("mallory") as mallory:
        asked = [
            mallory.get(f"{run}/"),
            mallory.get(f"{run}/metrics/"),
            mallory.post(f"{run}/stop/"),
            mallory.get(f"/trajectories/{theirs}/"),
            mallory.get(f"/trajectories/{theirs}/download/"),
        ]
        nobodys = mallory.get("/runs/00000000-0000-4000-8000-000000000000/")
        listed = mallory.get("/runs/").json()["count"]

    assert [answer.status_code for answer in asked] == [404] * 5
    assert asked[0].json() == nobodys.json()
    assert listed == 0


def test_every_mistake_of_a_configuration_is_named_by_its_path(api: httpx.Client):
    config = {"kind": "rl", "tasks": [], "grpo": {"group_size": 1}, "sede": 1}
    before = api.get("/runs/").json()["count"]

    answer = api.post("/runs/", json={"name": "x", "config": config})

    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid"
    assert set(answer.json()["errors"]) == {
        "config.tasks",
        "config.grpo.group_size",
        "config.sede",
    }
    assert api.get("/runs/").json()["count"] == before
