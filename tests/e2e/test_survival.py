import json
from collections import Counter
from typing import Any

import httpx
import pytest

from tests.e2e.runs import SMALL, everything, start_run, wait_until_over
from tests.e2e.studio import Studio, wait_for

pytestmark = pytest.mark.e2e

NUM_STEPS = 10
GROUP_SIZE = SMALL["grpo"]["group_size"]
CONFIG = SMALL | {"max_optimizer_steps": NUM_STEPS}
VERDICTS_OF_ZERO = {
    "unsolved",
    "step_limit",
    "parse_error",
    "loop_detected",
    "infeasible_claimed",
}


@pytest.fixture(scope="module")
def survivor(studio: Studio) -> dict[str, Any]:
    """Return a run during which every process that it needs was killed once."""
    with studio.api() as api:
        run = start_run(api, name="survivor", preset="quickstart", overrides=CONFIG)

        worker = wait_for(lambda: busy_worker(studio, run["id"]), what="a rollout")
        assert studio.kill("celery", "-Q rollouts") == worker
        wait_for(
            lambda: busy_worker(studio, run["id"]) not in (None, worker),
            what="rollouts of the worker that came after",
        )
        studio.kill("agents.inference.server")
        wait_for(lambda: steps_done(api, run) >= 1, what="an optimizer step")
        studio.kill("training.engine")
        assert steps_done(api, run) < NUM_STEPS, "it was over before the last kill"
        return wait_until_over(api, run["id"])


def busy_worker(studio: Studio, run_id: str) -> int | None:
    """Return the environment worker that plays for a run, by its process id."""
    with studio.api() as api:
        for slot in api.get("/slots/", params={"run": run_id}).json():
            if slot["state"] != "idle":
                return int(slot["slot"].split("-")[-2])
    return None


def steps_done(api: httpx.Client, run: dict[str, Any]) -> int:
    return int(api.get(f"/runs/{run['id']}/").json()["optimizer_step"])


def test_a_run_outlives_every_process_that_serves_it(survivor: dict[str, Any]):
    assert survivor["status"] == "succeeded", survivor["reason"]
    assert survivor["optimizer_step"] == NUM_STEPS
    assert survivor["attempt"] == 1


def test_nothing_is_trained_twice_and_nothing_is_left_out(
    studio: Studio, api: httpx.Client, survivor: dict[str, Any]
):
    steps = [*range(1, NUM_STEPS + 1)]

    measured = api.get(f"/runs/{survivor['id']}/metrics/").json()["rows"]
    checkpoints = everything(api, f"/runs/{survivor['id']}/checkpoints/")
    batches = studio.rows(
        "select step, status from training_batch where run_id = ? order by step",
        survivor["id"].replace("-", ""),
    )
    trained = [
        group
        for group in everything(api, f"/runs/{survivor['id']}/groups/")
        if group["status"] == "trained"
    ]

    # Rollouts are measured as a batch is made of them, one optimizer step earlier.
    for source, before in (("trainer", 0), ("rollouts", 1)):
        found = [r["step"] for r in measured if r["source"] == source]
        assert found == [step - before for step in steps]
    assert [step for step, status in batches if status != "returned"] == steps
    assert {status for step, status in batches if step <= NUM_STEPS} <= {
        *("trained", "returned")
    }
    assert sorted(one["step"] for one in checkpoints) == [0, *steps]
    assert Counter(group["step"] for group in trained) == dict.fromkeys(steps, 2)


def test_what_broke_has_no_reward_and_was_rolled_again(
    api: httpx.Client, survivor: dict[str, Any]
):
    rows = everything(api, "/trajectories/", run=survivor["id"])
    faulted = [row for row in rows if row["status"] == "faulted"]
    finished = [row for row in rows if row["status"] == "finished"]
    over = {
        group["id"]
        for group in everything(api, f"/runs/{survivor['id']}/groups/")
        if group["drop_reason"] == "run_over"
    }

    assert "worker_lost" in {row["fault_code"] for row in faulted}
    assert [row["reward"] for row in faulted] == [None] * len(faulted)
    again = {(row["group"], row["index"]) for row in finished}
    for row in faulted:
        assert (row["group"], row["index"]) in again or row["group"] in over
    for row in finished:
        assert row["fault_code"] == ""
        assert row["end_reason"] == "solved" or row["end_reason"] in VERDICTS_OF_ZERO
        assert (row["reward"] > 0.5) == (row["end_reason"] == "solved")
        steps = api.get(f"/trajectories/{row['id']}/steps/").json()
        assert len(steps["steps"]) == row["num_steps"]
        assert steps["final_screen"]


def test_every_group_that_was_trained_on_is_whole(
    studio: Studio, api: httpx.Client, survivor: dict[str, Any]
):
    run_id = survivor["id"]
    finished = everything(api, "/trajectories/", run=run_id, status="finished")
    groups = everything(api, f"/runs/{run_id}/groups/")
    batches = studio.home / "media" / "runs" / run_id / "batches"

    for group in groups:
        if group["status"] != "trained":
            continue
        rows = [row for row in finished if row["group"] == group["id"]]
        assert sorted(row["index"] for row in rows) == [*range(GROUP_SIZE)]
        assert sum(row["advantage"] for row in rows) == pytest.approx(0, abs=1e-6)
        learned = json.loads((batches / f"{group['step']}.json").read_text())
        assert {row["id"] for row in rows} == {
            one["id"] for one in learned["trajectories"] if one["group"] == group["id"]
        }
