"""An environment worker's word and ear, on a real Redis; its queue is stood in for."""

import pytest

from environments.events import EventLog
from environments.pool import SlotPool
from environments.workers import cluster_of, worker_registry
from studio.common.redis import connect
from studio.common.usage import UsageMeter
from tests.factories import TaskFactory, TrajectoryFactory
from tests.worlds import redis_url
from training.rollouts.types import FaultCode
from training.services import announcing
from training.services.announcing import Announcer
from training.services.seats import Seat, Seats

__all__ = ["redis_url"]

NAME = "environments@here"


class Queue:
    """A queue that is left and joined at once."""

    queue = "rollouts"

    def __init__(self):
        self.is_open = True

    def open(self):
        self.is_open = True

    def close(self):
        self.is_open = False


@pytest.fixture(scope="module")
def pool():
    pool = SlotPool(worker="w", num_slots=2)
    yield pool
    pool.close()


@pytest.fixture
def redis(redis_url):
    with connect(redis_url) as connection:
        connection.flushall()
        yield connection


@pytest.fixture
def registry(redis):
    return worker_registry(redis)


@pytest.fixture
def ended():
    """How often the process was asked to end."""
    return []


@pytest.fixture
def make(pool, redis, registry, ended, tmp_path):
    """Make a life of the worker."""

    def make(**more):
        return Announcer(
            **{
                "name": NAME,
                "pool": pool,
                "intake": Queue(),
                "registry": registry,
                "events": EventLog(redis),
                "meter": UsageMeter(tmp_path),
                "is_supervised": True,
                "seats": Seats(),
                "end": lambda: ended.append(True),
            }
            | more
        )

    return make


@pytest.fixture
def seat(db):
    """An episode that plays in the worker's first slot, once it is put there."""
    return Seat(trajectory=TrajectoryFactory(task=TaskFactory(), step_limit=7))


def state_of(registry):
    ((_, state),) = cluster_of(registry.read()).workers
    return state


def told(redis):
    events = EventLog(redis).newest(20)
    return [(one.event.kind, one.event.text) for one in reversed(events)]


def test_a_worker_is_there_before_it_has_played_anything(make, registry):
    make().beat()

    ((seen, state),) = cluster_of(registry.read()).workers
    assert (seen.name, seen.fence, state) == (NAME, 1, "serving")
    assert [slot.slot for slot in seen.entry.slots] == ["w-0", "w-1"]
    assert {slot.state for slot in seen.entry.slots} == {"idle"}
    assert seen.entry.queue == "rollouts"
    assert seen.entry.own_bytes > 10_000_000
    assert seen.entry.machine.num_cpus >= 1


def test_a_slot_says_what_is_played_in_it(make, registry, seat):
    seats = Seats()
    seats.sit(seat, "w-0")
    seat.enter("model", step=3)

    make(seats=seats).beat()

    (seen,) = registry.read().seen
    slot = seen.entry.slots[0]
    assert (slot.state, slot.step, slot.max_steps) == ("model", 3, 7)
    assert slot.task == "miniwob/click-test"
    assert slot.run_id == str(seat.trajectory.run_id)
    assert slot.owner_id == seat.trajectory.owner_id
    assert seen.entry.slots[1].run_id == ""


def test_a_slot_counts_its_episodes_and_forgets_whose_they_were(make, registry, seat):
    seats = Seats()
    seats.sit(seat, "w-0")
    seats.rise(seat)

    make(seats=seats).beat()

    (seen,) = registry.read().seen
    slot = seen.entry.slots[0]
    assert (slot.state, slot.num_episodes, slot.task) == ("idle", 1, "")
    assert seen.entry.num_episodes_last_min == 1


def test_draining_leaves_the_queue_and_lets_what_plays_go_on(
    make, registry, redis, seat
):
    seats = Seats()
    seats.sit(seat, "w-0")
    life = make(seats=seats)
    life.beat()
    registry.ask_drained(NAME, is_drained=True)

    for _ in range(2):
        life.beat()
    while_playing = state_of(registry)
    seats.rise(seat)
    life.beat()

    assert not life._intake.is_open
    assert (while_playing, state_of(registry)) == ("draining", "drained")
    assert told(redis)[-2:] == [
        ("draining", "takes no new episode; still plays: 1"),
        ("drained", "is drained: no episode is left"),
    ]


def test_a_drained_worker_that_is_resumed_joins_the_queue_again(make, registry, redis):
    life = make()
    registry.ask_drained(NAME, is_drained=True)
    life.beat()
    registry.ask_drained(NAME, is_drained=False)

    for _ in range(2):
        life.beat()

    assert life._intake.is_open
    assert state_of(registry) == "serving"
    assert told(redis)[-1][0] == "resumed"


def test_a_queue_that_a_new_connection_joined_again_is_left_again(make, registry):
    life = make()
    registry.ask_drained(NAME, is_drained=True)
    life.beat()
    life._intake.open()

    life.beat()

    assert not life._intake.is_open


def test_a_worker_that_starts_drained_takes_nothing_from_its_first_word_on(
    make, registry
):
    registry.ask_drained(NAME, is_drained=True)
    life = make()

    life.beat()

    assert not life._intake.is_open


def test_a_restart_waits_for_what_plays_and_then_ends_the_process(
    make, registry, redis, seat, ended
):
    seats = Seats()
    seats.sit(seat, "w-0")
    life = make(seats=seats)
    life.beat()
    registry.ask_restart(NAME, fence=life.fence)

    for _ in range(3):
        life.beat()
    ended_while_playing = list(ended)
    seats.rise(seat)
    life.beat()

    assert not life._intake.is_open
    assert state_of(registry) == "restarting"
    assert (ended_while_playing, ended) == ([], [True])
    assert told(redis)[-1][0] == "restarting"


def test_a_restart_does_not_wait_for_ever(make, registry, seat, ended, monkeypatch):
    monkeypatch.setattr(announcing, "RESTART_PATIENCE_S", 0.0)
    seats = Seats()
    seats.sit(seat, "w-0")
    life = make(seats=seats)
    life.beat()
    registry.ask_restart(NAME, fence=life.fence)

    for _ in range(3):
        life.beat()

    assert ended


def test_a_restart_is_not_repeated_by_the_next_life(make, registry, ended):
    first = make()
    first.beat()
    registry.ask_restart(NAME, fence=first.fence)
    second = make()

    for _ in range(3):
        second.beat()

    assert second.fence == 2
    assert second._intake.is_open
    assert ended == []


def test_who_says_goodbye_is_not_lost(make, registry, redis):
    life = make()
    life.start()

    life.close()

    assert state_of(registry) == "ended"
    assert told(redis)[-1] == ("ended", "ended; it is started again")


def test_a_successor_tells_that_the_life_before_said_no_goodbye(make, redis):
    make().beat()

    make().beat()

    first, second = told(redis)
    assert first == ("started", "started with 2 slots")
    assert "said no goodbye" in second[1]


def test_a_worker_that_was_silent_for_long_tells_that_it_is_back(make, redis):
    life = make()
    life.beat()
    life._spoke_at -= 30

    for _ in range(2):
        life.beat()

    assert told(redis)[1:] == [("back", "is heard of again after 30 s")]


def test_faults_are_told_with_whose_they_were(make, redis, seat):
    seats = Seats()
    seats.sit(seat, "w-1")
    seats.fault(seat, FaultCode.ENV_TIMEOUT, "reset took more than 15 s")
    life = make(seats=seats)

    for _ in range(2):
        life.beat()

    newest = EventLog(redis).newest(1)[0].event
    assert newest.text == "slot 1 met a fault: env_timeout"
    assert newest.task == "miniwob/click-test"
    assert newest.owner_id == seat.trajectory.owner_id
    assert [kind for kind, _ in told(redis)] == ["started", "fault"]


def test_a_world_that_broke_counts_as_a_restart_and_a_lost_model_does_not(
    make, registry, seat
):
    seats = Seats()
    seats.sit(seat, "w-1")
    for code in (FaultCode.ENV_STEP, FaultCode.MODEL, FaultCode.ENV_TIMEOUT):
        seats.fault(seat, code, "it broke")

    make(seats=seats).beat()

    (seen,) = registry.read().seen
    assert [slot.num_restarts for slot in seen.entry.slots] == [0, 2]
    assert seen.entry.num_restarts == 2
    assert seen.entry.last_error == "env_timeout: it broke"


def test_without_redis_a_worker_goes_on_and_is_there_when_it_comes_back(make, registry):
    nowhere = connect("unix:///nowhere/redis.sock")
    life = make(registry=worker_registry(nowhere), events=EventLog(nowhere))

    life.beat()
    life._registry = registry
    life.beat()

    assert state_of(registry) == "serving"


def test_what_was_wished_holds_while_redis_is_away(make, registry):
    life = make()
    registry.ask_drained(NAME, is_drained=True)
    life.beat()

    life._registry = worker_registry(connect("unix:///nowhere/redis.sock"))
    life.beat()

    assert not life._intake.is_open


def test_browsers_that_killed_workers_left_are_told_and_counted(make, registry, redis):
    make(num_orphans=2).beat()

    (seen,) = registry.read().seen
    assert seen.entry.num_orphans == 2
    texts = [one.event.text for one in EventLog(redis).newest(5)]
    assert "ended browsers of killed workers: 2" in texts
