"""Every route of the API asks who is there: a new one must say here whose it is."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from rest_framework.test import APIClient

from environments.errors import SlotNotFound
from environments.frames import SlotState
from studio.tokens import token_create
from tests.factories import (
    CheckpointFactory,
    DatasetFactory,
    EvaluationFactory,
    RunFactory,
    TrajectoryFactory,
)

Owned = Callable[[Any], dict[str, Any]]


def pk(factory: Any) -> Owned:
    return lambda owner: {"pk": factory(owner=owner).pk}


def checkpoint_of(owner: Any) -> dict[str, Any]:
    return {"pk": CheckpointFactory(run=RunFactory(owner=owner)).pk}


def trajectory_of(owner: Any) -> dict[str, Any]:
    return {"pk": TrajectoryFactory(run=RunFactory(owner=owner)).pk}


def frame_of(owner: Any) -> dict[str, Any]:
    return trajectory_of(owner) | {"sha256": "0" * 64}


def token_of(owner: Any) -> dict[str, Any]:
    return {"pk": token_create(owner=owner, name="theirs")[0].pk}


STRANGERS: dict[str, Owned] = {
    "run-detail": pk(RunFactory),
    "run-start": pk(RunFactory),
    "run-stop": pk(RunFactory),
    "run-pause": pk(RunFactory),
    "run-resume": pk(RunFactory),
    "run-metrics": pk(RunFactory),
    "run-checkpoints": pk(RunFactory),
    "run-transitions": pk(RunFactory),
    "run-groups": pk(RunFactory),
    "trajectory-detail": trajectory_of,
    "trajectory-steps": trajectory_of,
    "trajectory-download": trajectory_of,
    "trajectory-frame": frame_of,
    "checkpoint-detail": checkpoint_of,
    "dataset-detail": pk(DatasetFactory),
    "dataset-rows": pk(DatasetFactory),
    "evaluation-detail": pk(EvaluationFactory),
    "evaluation-cancel": pk(EvaluationFactory),
    "token-detail": token_of,
    "slot-frame": lambda owner: {"slot": "theirs"},
}
"""Route -> arguments that lead to something of a stranger's."""

EVERYBODYS: dict[str, dict[str, Any]] = {
    "task-detail": {"pk": 1},  # The catalogue is the same for all.
    "suite-detail": {"slug": "miniwob"},
}
"""Routes with arguments behind which nothing belongs to anybody."""

STAFFS: dict[str, dict[str, Any]] = {
    name: {"name": "env-0"}
    for name in ("worker-drain", "worker-resume", "worker-restart")
}
"""Routes that are for staff alone."""

LISTS = {
    "run-list",
    "trajectory-list",
    "checkpoint-list",
    "dataset-list",
    "evaluation-list",
    "token-list",
    "slot-list",
}
"""Lists that must not hold what is a stranger's."""

FOR_ALL = {"cluster", "task-list", "suite-list", "me", "api-schema", "api-docs"}


def api_routes() -> dict[str, set[str]]:
    """Return the methods of every route below ``/api/``, by its name."""

    def walk(patterns: Any, prefix: str) -> Iterator[tuple[str, str, Any]]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            elif isinstance(pattern, URLPattern) and route.startswith("api/"):
                yield route, pattern.name or "", pattern.callback

    found: dict[str, set[str]] = {}
    for route, name, callback in walk(get_resolver().url_patterns, ""):
        assert name, f"{route} has no name"
        found.setdefault(name, set()).update(methods_of(callback))
    return found


def methods_of(callback: Any) -> set[str]:
    if actions := getattr(callback, "actions", None):
        return set(actions)
    view = callback.view_class
    return {
        method
        for method in ("get", "post", "put", "patch", "delete")
        if hasattr(view, method)
    }


ROUTES = api_routes()
CALLS = [(name, method) for name in sorted(ROUTES) for method in sorted(ROUTES[name])]


def address(name: str, owner: Any) -> str:
    if name in STRANGERS:
        return reverse(name, kwargs=STRANGERS[name](owner))
    return reverse(name, kwargs=(EVERYBODYS | STAFFS).get(name))


@pytest.fixture
def board(monkeypatch, mallory):
    """A board on which one slot works for mallory."""

    class Board:
        def slots(self) -> list[SlotState]:
            return [SlotState(slot="theirs", owner_id=mallory.pk)]

    monkeypatch.setattr("environments.selectors._board", Board)
    return Board


def test_every_route_says_whose_it_is():
    known = {*STRANGERS, *EVERYBODYS, *STAFFS, *LISTS, *FOR_ALL}

    assert set(ROUTES) == known


@pytest.mark.parametrize(("name", "method"), CALLS)
def test_who_is_not_signed_in_gets_nothing(name, method, mallory, board):
    response = getattr(APIClient(), method)(address(name, mallory))

    if name == "api-docs":  # A page: whoever reads it is sent to sign in.
        assert response["Location"].startswith("/sign-in/")
    else:
        assert response.status_code in (401, 403)


@pytest.mark.parametrize(
    ("name", "method"), [call for call in CALLS if call[0] in STRANGERS]
)
def test_what_is_a_strangers_does_not_exist(name, method, api, mallory, board):
    response = getattr(api, method)(address(name, mallory))

    assert response.status_code == 404
    assert set(response.data) == {"code", "detail"}


@pytest.mark.parametrize(
    ("name", "method"), [call for call in CALLS if call[0] in STAFFS]
)
def test_what_is_for_staff_is_refused_to_others(name, method, api):
    response = getattr(api, method)(address(name, None))

    assert response.status_code == 403
    assert set(response.data) == {"code", "detail"}


@pytest.mark.parametrize("name", sorted(LISTS))
def test_no_list_holds_what_is_a_strangers(name, api, mallory, board):
    for arguments in STRANGERS.values():
        arguments(mallory)

    answer = api.get(reverse(name)).data

    assert (answer["results"] if isinstance(answer, dict) else answer) == []


def test_an_id_that_is_none_is_not_found(api):
    assert api.get("/api/v1/runs/nope/").status_code == 404
    assert api.get(f"/api/v1/runs/{UUID(int=0)}/").status_code == 404


def test_a_slot_that_is_unknown_and_one_that_is_a_strangers_answer_alike(api, board):
    theirs = api.get("/api/v1/slots/theirs/frame/").data
    nobodys = api.get("/api/v1/slots/nobodys/frame/").data

    assert theirs["code"] == nobodys["code"] == SlotNotFound.code
