import base64

import pytest
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisDown

from environments.frames import SlotState
from tests.factories import RunFactory

pytestmark = pytest.mark.django_db


class Board:
    """Slots in memory, with the four methods that the page uses."""

    def __init__(self, *states):
        self.states = list(states)
        self.watched = []

    def watch(self, run_id):
        self.watched.append(run_id)

    def slots(self):
        return self.states

    def frame(self, slot):
        return f"picture of {slot}".encode()


@pytest.fixture
def run(alice):
    return RunFactory.create(owner=alice, running=True)


@pytest.fixture
def board(run, monkeypatch):
    board = Board(
        SlotState(slot="env-0/0", run_id=str(run.pk), owner_id=1, seq=7),
        SlotState(slot="env-0/1", run_id=str(run.pk), seq=9),
        SlotState(slot="env-0/2", run_id="another", seq=1),
    )
    monkeypatch.setattr("training.pages.wall.frame_store", lambda: board)
    return board


def frames(response):
    return {one["slot"]: one["frame"] for one in response.json()["slots"]}


def ask(client, run, seen=None):
    return client.get(reverse("training:run-wall", args=[run.pk]), seen or {})


def test_the_wall_has_the_runs_slots_with_their_screens(client, alice, run, board):
    client.force_login(alice)

    answer = frames(ask(client, run))

    assert set(answer) == {"env-0/0", "env-0/1"}
    assert base64.b64decode(answer["env-0/0"]) == b"picture of env-0/0"


def test_a_frame_that_the_page_has_is_not_sent_again(client, alice, run, board):
    client.force_login(alice)

    answer = frames(ask(client, run, {"env-0/0": "7", "env-0/1": "8"}))

    assert answer["env-0/0"] is None
    assert answer["env-0/1"] is not None


def test_a_screen_out_of_sight_is_not_sent(client, alice, run, board):
    client.force_login(alice)

    assert frames(ask(client, run, {"env-0/1": "-"}))["env-0/1"] is None


def test_looking_keeps_the_screens_coming(client, alice, run, board):
    client.force_login(alice)

    ask(client, run)

    assert board.watched == [str(run.pk)]


def test_who_owns_a_slot_is_not_told(client, alice, run, board):
    client.force_login(alice)

    assert "owner_id" not in ask(client, run).json()["slots"][0]


def test_a_stranger_sees_no_screen_and_wakes_none(client, mallory, run, board):
    client.force_login(mallory)

    assert ask(client, run).status_code == 404
    assert board.watched == []


def test_a_visitor_is_led_to_the_sign_in_page(client, run, board):
    assert ask(client, run).url.startswith("/sign-in/")


def test_a_board_out_of_reach_is_said(client, alice, run, board, monkeypatch):
    def fail():
        raise RedisDown("gone")

    monkeypatch.setattr(board, "slots", fail)
    client.force_login(alice)

    response = ask(client, run)

    assert response.status_code == 503
    assert response.json() == {"detail": "the slot board does not answer"}
