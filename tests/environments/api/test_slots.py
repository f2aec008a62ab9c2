import pytest
from django.contrib.auth.models import User
from PIL import Image

from environments import selectors
from environments.frames import FrameStore, SlotState

SLOTS = "/api/v1/slots/"
RED = Image.new("RGB", (160, 210), "red")


@pytest.fixture
def board(redis_url, settings):
    """An empty board; the API reads the same."""
    settings.REDIS_URL = redis_url
    selectors._board.cache_clear()
    store = FrameStore(redis_url)
    store._redis.flushall()
    yield store
    selectors._board.cache_clear()


@pytest.fixture
def slots(board, alice, mallory):
    """A slot that works for alice, one for mallory, and one for nobody."""
    board.watch("r1")
    board.publish(
        SlotState(slot="w/0", run_id="r1", owner_id=alice.pk, task="miniwob/a", step=2),
        RED,
    )
    board.publish(SlotState(slot="w/1", run_id="r2", owner_id=mallory.pk), RED)
    board.publish(SlotState(slot="w/2"))
    return board


def test_one_sees_the_slots_that_work_for_oneself(api, slots):
    (slot,) = api.get(SLOTS).data

    assert (slot["slot"], slot["task"], slot["step"]) == ("w/0", "miniwob/a", 2)
    assert slot["screen_size"] == [160, 210]
    assert "owner_id" not in slot


def test_an_administrator_sees_all(api, slots, alice):
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    api.force_authenticate(User.objects.get(pk=alice.pk))

    assert [slot["slot"] for slot in api.get(SLOTS).data] == ["w/0", "w/1", "w/2"]


def test_the_slots_of_one_run_can_be_asked_for_and_are_watched_then(api, slots):
    slots._redis.delete("oche:watch:r1")

    assert len(api.get(SLOTS, {"run": "r1"}).data) == 1
    assert api.get(SLOTS, {"run": "r2"}).data == []
    assert slots._redis.exists("oche:watch:r1")
    assert not slots._redis.exists("oche:watch:r2")


def test_a_frame_comes_with_its_number_and_is_not_kept_by_caches(api, slots):
    response = api.get(f"{SLOTS}w/0/frame/")

    assert response.status_code == 200
    assert response["Content-Type"] == "image/webp"
    assert response["ETag"] == '"1"'
    assert response["Cache-Control"] == "no-store"
    assert response.content[8:12] == b"WEBP"


def test_a_frame_that_is_known_already_is_not_sent_again(api, slots):
    headers = {"If-None-Match": '"1"'}

    assert api.get(f"{SLOTS}w/0/frame/", headers=headers).status_code == 304


def test_a_slot_without_a_frame_has_no_content_yet(api, board, alice):
    board.publish(SlotState(slot="w/0", run_id="r1", owner_id=alice.pk))

    response = api.get(f"{SLOTS}w/0/frame/")

    assert response.status_code == 204
    assert board._redis.exists("oche:watch:r1")


def test_the_frame_of_a_strangers_slot_is_not_found(api, slots):
    assert api.get(f"{SLOTS}w/1/frame/").status_code == 404
    assert api.get(f"{SLOTS}w/2/frame/").status_code == 404
    assert api.get(f"{SLOTS}nowhere/frame/").status_code == 404


def test_a_board_that_does_not_answer_is_said_so(api, settings):
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    selectors._board.cache_clear()

    response = api.get(SLOTS)
    selectors._board.cache_clear()

    assert response.status_code == 503
    assert response.data["code"] == "environments.board_unreachable"
