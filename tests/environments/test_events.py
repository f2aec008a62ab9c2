"""The list of what happened, on a real Redis."""

import time

import pytest

from environments.events import KEY, MAX_EVENTS, Event, EventLog
from studio.common.redis import connect
from studio.common.registry import RegistryUnreadable


@pytest.fixture
def redis(redis_url):
    with connect(redis_url) as connection:
        connection.flushall()
        yield connection


def event(text="started"):
    return Event(kind="started", worker="w", text=text)


def test_the_newest_comes_first_with_its_time(redis):
    log = EventLog(redis)
    for text in ("one", "two", "three"):
        log.note(event(text))

    found = log.newest(2)

    assert [one.event.text for one in found] == ["three", "two"]
    assert found[0].at == pytest.approx(time.time(), abs=5)


def test_the_list_does_not_grow_for_ever(redis):
    log = EventLog(redis)
    for number in range(2 * MAX_EVENTS):
        log.note(event(str(number)))

    # Redis cuts whole pieces off, which is much cheaper.
    assert redis.xlen(KEY) < 1.5 * MAX_EVENTS


def test_an_event_of_another_release_is_passed_over(redis):
    redis.xadd(KEY, {"event": '{"kind": "flown away"}'})
    redis.xadd(KEY, {"other": "x"})
    EventLog(redis).note(event())

    assert [one.event for one in EventLog(redis).newest(9)] == [event()]


def test_a_log_out_of_reach_disturbs_nobody_who_writes_and_misleads_nobody_who_reads():
    log = EventLog(connect("unix:///nowhere/redis.sock"))

    log.note(event())

    with pytest.raises(RegistryUnreadable):
        log.newest(1)
