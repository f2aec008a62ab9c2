import io
import time

import pytest
from PIL import Image
from redis.exceptions import RedisError

from environments import frames
from environments.frames import FrameStore, SlotState

RED = Image.new("RGB", (160, 210), "red")


@pytest.fixture
def store(redis_url: str) -> FrameStore:
    store = FrameStore(redis_url)
    store._redis.flushall()
    return store


def test_a_slot_that_was_published_is_on_the_board(store: FrameStore):
    before = time.time()

    store.publish(
        SlotState(
            slot="w-0",
            run_id="r1",
            owner_id=7,
            task="miniwob/click-tab",
            instruction="Click on Tab #2.",
            step=1,
            max_steps=2,
            state="acting",
            action={"kind": "click", "x": 0.5, "y": 0.25},
            version=3,
        ),
        RED,
    )

    (slot,) = store.slots()
    assert (slot.slot, slot.run_id, slot.owner_id) == ("w-0", "r1", 7)
    assert slot.action == {"kind": "click", "x": 0.5, "y": 0.25}
    assert (slot.state, slot.version, slot.screen_size) == ("acting", 3, (160, 210))
    assert before <= slot.at <= time.time()


def test_a_screen_is_encoded_only_while_somebody_watches_its_run(store: FrameStore):
    unseen = store.publish(SlotState(slot="w-0", run_id="r1"), RED)
    assert unseen is not None
    assert unseen.seq == 0
    assert store.frame("w-0") is None

    store.watch("r2")
    other = FrameStore(store.redis_url)
    assert other.publish(SlotState(slot="w-0", run_id="r1"), RED).seq == 0
    assert other.publish(SlotState(slot="w-1", run_id="r2"), RED).seq == 1

    picture = Image.open(io.BytesIO(store.frame("w-1")))
    assert (picture.format, picture.size) == ("WEBP", (160, 210))
    red, green, blue = picture.convert("RGB").getpixel((80, 100))
    assert red > 245
    assert max(green, blue) < 10


def test_an_evaluation_without_a_run_can_be_watched_too(store: FrameStore):
    store.watch("e1")

    assert store.publish(SlotState(slot="w-0", evaluation_id="e1"), RED).seq == 1


def test_a_viewer_who_comes_during_a_run_is_noticed(
    store: FrameStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(frames, "_WATCH_CACHE_S", 0.0)
    assert store.publish(SlotState(slot="w-0", run_id="r1"), RED).seq == 0

    store.watch("r1")

    assert store.publish(SlotState(slot="w-0", run_id="r1"), RED).seq == 1


def test_numbers_of_frames_go_on_after_a_worker_was_restarted(store: FrameStore):
    store.watch("r1")
    state = SlotState(slot="w-0", run_id="r1")
    assert [store.publish(state, RED).seq for _ in range(3)] == [1, 2, 3]

    restarted = FrameStore(store.redis_url)

    resumed = restarted.publish(state)
    assert (resumed.seq, resumed.screen_size) == (3, (160, 210))
    assert restarted.publish(state, RED).seq == 4


def test_a_slot_that_fell_silent_leaves_the_board(
    store: FrameStore, monkeypatch: pytest.MonkeyPatch
):
    store.publish(SlotState(slot="w-0"))
    monkeypatch.setattr(frames, "SLOT_TTL_S", -1)

    assert store.slots() == []


def test_everything_expires(store: FrameStore):
    store.watch("r1")
    store.publish(SlotState(slot="w-0", run_id="r1"), RED)

    ttls = [
        store._redis.ttl(f"oche:{key}") for key in ("slot:w-0", "frame:w-0", "watch:r1")
    ]

    assert [0 < ttl <= limit for ttl, limit in zip(ttls, (10, 30, 5), strict=True)] == [
        True
    ] * 3


def test_slots_are_listed_by_name_and_can_be_removed(store: FrameStore):
    for slot in ("b", "c", "a"):
        store.publish(SlotState(slot=slot))

    store.remove("b")

    assert [slot.slot for slot in store.slots()] == ["a", "c"]


def test_a_board_out_of_reach_disturbs_no_rollout_but_a_reader_hears_of_it(tmp_path):
    store = FrameStore(f"unix://{tmp_path}/nobody.sock")

    assert store.publish(SlotState(slot="w-0", run_id="r1"), RED) is None
    store.remove("w-0")
    with pytest.raises(RedisError):
        store.slots()


def test_a_slot_that_goes_to_another_user_keeps_nothing_of_the_screen_before(
    store: FrameStore,
):
    store.watch("r1")
    store.publish(SlotState(slot="w-0", run_id="r1", owner_id=1, state="acting"), RED)
    store.publish(SlotState(slot="w-0", run_id="r1", owner_id=1, state="idle"))
    assert store.frame("w-0") is not None

    taken = store.publish(SlotState(slot="w-0", run_id="r2", owner_id=2, state="reset"))

    assert store.frame("w-0") is None
    assert taken is not None
    assert taken.screen_size is None
