import asyncio
import json

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser

from tests.factories import RunFactory, UserFactory
from training import consumers
from training.consumers import CLOSE_NOT_FOUND, CLOSE_SIGNED_OUT
from training.routing import websocket_urlpatterns
from training.services.transitions import run_transition
from training.states import RunStatus

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


class Board:
    """Notes for which runs frames were asked."""

    def __init__(self):
        self.watched = []

    def watch(self, run_id):
        self.watched.append(run_id)


@pytest.fixture(autouse=True)
def board(monkeypatch):
    board = Board()
    monkeypatch.setattr(consumers, "frame_store", lambda: board)
    return board


class Socket(ApplicationCommunicator):
    """A browser's end. Not ``channels.testing``, which wants a web server, daphne."""

    async def connect(self):
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output())["type"] == "websocket.accept"

    async def receive_json(self):
        return json.loads((await self.receive_output())["text"])

    async def say(self, text):
        await self.send_input({"type": "websocket.receive", "text": text})

    async def disconnect(self):
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait()


def watch(run, user):
    scope = {"type": "websocket", "path": f"/ws/runs/{run.pk}/", "user": user}
    return Socket(URLRouter(websocket_urlpatterns), scope)


async def test_the_owner_hears_of_every_move(alice, board):
    run = await database_sync_to_async(RunFactory)(owner=alice)
    socket = watch(run, alice)
    await socket.connect()

    await database_sync_to_async(run_transition)(run_id=run.pk, to=RunStatus.QUEUED)

    event = await socket.receive_json()
    assert event["kind"] == "status_changed"
    assert event["new_status"] == "queued"
    assert board.watched == [str(run.pk)]
    await socket.disconnect()


async def test_a_stranger_is_turned_away_as_if_the_run_did_not_exist(
    alice, mallory, board
):
    run = await database_sync_to_async(RunFactory)(owner=alice)
    socket = watch(run, mallory)
    await socket.connect()

    assert (await socket.receive_output())["code"] == CLOSE_NOT_FOUND
    assert board.watched == []


async def test_an_administrator_may_watch_any_run(alice):
    run = await database_sync_to_async(RunFactory)(owner=alice)
    admin = await database_sync_to_async(UserFactory)(is_superuser=True)
    socket = watch(run, admin)
    await socket.connect()

    assert await socket.receive_nothing()
    await socket.disconnect()


async def test_a_signed_out_visitor_is_asked_to_sign_in(alice):
    run = await database_sync_to_async(RunFactory)(owner=alice)
    socket = watch(run, AnonymousUser())
    await socket.connect()

    assert (await socket.receive_output())["code"] == CLOSE_SIGNED_OUT


async def test_what_the_browser_says_is_ignored(alice):
    run = await database_sync_to_async(RunFactory)(owner=alice)
    socket = watch(run, alice)
    await socket.connect()

    await socket.say("not json")

    assert await socket.receive_nothing()
    await socket.disconnect()


async def test_a_line_that_the_channel_layer_forgot_hears_again(alice, monkeypatch):
    monkeypatch.setattr(consumers, "WATCH_EVERY_S", 0.01)
    run = await database_sync_to_async(RunFactory)(
        owner=alice, status=RunStatus.STARTING
    )
    socket = watch(run, alice)
    await socket.connect()

    get_channel_layer().groups.clear()
    await asyncio.sleep(0.1)
    await database_sync_to_async(run_transition)(run_id=run.pk, to=RunStatus.RUNNING)

    assert (await socket.receive_json())["new_status"] == "running"
    await socket.disconnect()
