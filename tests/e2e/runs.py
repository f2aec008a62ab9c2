"""Runs by REST: small enough to end within a test."""

from typing import Any

import httpx

from tests.e2e.studio import wait_for

TASKS = ("click-option", "click-collapsible", "click-test-2")
"""What the policy that ships solves now and then: most groups of four differ within."""
SMALL = {
    "tasks": [f"miniwob/{name}" for name in TASKS],
    "max_optimizer_steps": 2,
    "stop_at_success": 0,
    "grpo": {"group_size": 4, "groups_per_step": 2},
    "rollout": {"max_steps": 6},
}
OVER = ("succeeded", "failed", "stopped")


def start_run(client: httpx.Client, **body: Any) -> dict[str, Any]:
    """Create a run and start it."""
    made = client.post("/runs/", json=body)
    assert made.status_code == 201, made.text
    started = client.post(f"/runs/{made.json()['id']}/start/")
    assert started.status_code == 200, started.text
    assert started.json()["status"] == "queued"
    return dict(started.json())


def wait_until_over(client: httpx.Client, run_id: str) -> dict[str, Any]:
    """Wait until a run is over and return it."""

    def over() -> dict[str, Any] | None:
        run = client.get(f"/runs/{run_id}/").json()
        return dict(run) if run["status"] in OVER else None

    return wait_for(over, what=f"run {run_id} is over")


def everything(client: httpx.Client, path: str, **query: str) -> list[dict[str, Any]]:
    """Return a whole list, all pages of it."""
    found: list[dict[str, Any]] = []
    page = 1
    while True:
        answer = client.get(path, params={**query, "page": page, "page_size": 500})
        body = answer.json()
        found += body["results"]
        if body["next"] is None:
            return found
        page += 1
