"""The registry on a real Redis: who is heard of, and whose word counts."""

import pytest
from pydantic import BaseModel

from studio.common.redis import connect
from studio.common.registry import (
    LAST_WORDS_S,
    Registry,
    RegistryUnreadable,
    Seen,
    Wish,
)
from tests.worlds import redis_url

__all__ = ["redis_url"]


class Note(BaseModel):
    text: str


@pytest.fixture
def redis(redis_url):
    with connect(redis_url) as connection:
        connection.flushall()
        yield connection


@pytest.fixture
def registry(redis):
    return Registry(redis, prefix="test:", model=Note)


def silence(redis, life, seconds):
    """Let a life have been silent for a while."""
    redis.zincrby("test:index", -seconds, life)


def said(registry):
    return [(one.name, one.fence, one.entry.text) for one in registry.read().seen]


def test_nobody_is_there_at_first(registry):
    assert registry.read().seen == ()
    assert registry.read().unreadable == ()


def test_entries_are_read_by_name_as_their_owners_wrote_them(registry):
    for name in ("b", "a"):
        registry.announce(name, registry.join(name), Note(text=f"I am {name}"))

    assert said(registry) == [("a", 1, "I am a"), ("b", 1, "I am b")]


def test_every_life_of_a_name_has_a_higher_fence(registry):
    assert [registry.join("a") for _ in range(3)] == [1, 2, 3]


def test_who_comes_back_from_the_dead_overwrites_nothing_of_the_successor(registry):
    first = registry.join("a")
    registry.announce("a", first, Note(text="first"))
    second = registry.join("a")
    registry.announce("a", second, Note(text="second"))

    registry.announce("a", first, Note(text="I am still here"))

    assert said(registry) == [("a", 1, "I am still here"), ("a", 2, "second")]


def test_a_redis_that_lost_its_memory_gives_no_fence_twice(registry, redis):
    fence = [registry.join("a") for _ in range(5)][-1]
    redis.flushall()

    registry.announce("a", fence, Note(text="older"))

    assert registry.join("a") == 6


def test_an_owner_that_is_silent_for_ten_seconds_is_no_longer_fresh(registry, redis):
    registry.announce("a", registry.join("a"), Note(text="x"))
    fresh = registry.read().seen[0]
    silence(redis, "a#1", 11)

    (silent,) = registry.read().seen

    assert fresh.is_fresh
    assert fresh.heard_s < 1
    assert not silent.is_fresh
    assert silent.heard_s == pytest.approx(11, abs=1)
    assert silent.entry.text == "x"


def test_last_words_are_forgotten_after_ten_minutes(registry, redis):
    registry.announce("a", registry.join("a"), Note(text="x"))
    silence(redis, "a#1", LAST_WORDS_S + 1)

    assert registry.read().seen == ()
    assert redis.ttl("test:entry:a#1") == pytest.approx(LAST_WORDS_S, abs=2)


def test_renewing_clears_away_whom_nobody_remembers(registry, redis):
    registry.announce("a", registry.join("a"), Note(text="x"))
    silence(redis, "a#1", LAST_WORDS_S + 1)

    registry.announce("b", registry.join("b"), Note(text="y"))

    assert redis.zrange("test:index", 0, -1) == [b"b#1"]


def test_garbage_is_named_and_hides_nobody_else(registry, redis):
    for name in ("a", "b", "c"):
        registry.announce(name, registry.join(name), Note(text=name))
    redis.set("test:entry:a#1", b"\x00not json")
    redis.set("test:entry:b#1", "{}")

    reading = registry.read()

    assert [one.name for one in reading.seen] == ["c"]
    assert [text.partition(":")[0] for text in reading.unreadable] == ["a", "b"]
    assert "text: Field required" in reading.unreadable[1]


@pytest.mark.parametrize("breaking", ["wrong type", "no number", "no server"])
def test_what_cannot_be_read_is_an_error_and_not_an_empty_cluster(redis, breaking):
    registry = Registry(redis, prefix="test:", model=Note)
    if breaking == "wrong type":
        redis.set("test:index", "x")
    elif breaking == "no number":
        redis.zadd("test:index", {"a#b": 2e9 + 1e9})
    else:
        registry = Registry(
            connect("unix:///nowhere/redis.sock"), prefix="test:", model=Note
        )

    with pytest.raises(RegistryUnreadable, match="does not answer"):
        registry.read()


def test_a_wish_reaches_its_owner_at_the_next_renewal_and_every_later_one(registry):
    fence = registry.join("a")
    registry.ask_drained("a", is_drained=True)

    heard = [registry.announce("a", fence, Note(text="x")) for _ in range(2)]

    assert heard == [Wish(is_drained=True)] * 2
    assert registry.wish("a") == Wish(is_drained=True)


def test_a_drained_name_stays_drained_in_its_next_life_until_it_is_resumed(registry):
    registry.announce("a", registry.join("a"), Note(text="x"))
    registry.ask_drained("a", is_drained=True)
    second = registry.join("a")

    drained = registry.announce("a", second, Note(text="x"))
    registry.ask_drained("a", is_drained=False)
    resumed = registry.announce("a", second, Note(text="x"))

    assert drained.is_drained
    assert not resumed.is_drained


def test_a_restart_is_meant_for_one_life(registry):
    first = registry.join("a")
    registry.ask_restart("a", fence=first)
    second = registry.join("a")

    wish = registry.announce("a", second, Note(text="x"))

    assert wish == Wish(restart_fence=first)
    assert wish.restart_fence != second


def test_a_wish_that_cannot_be_read_is_none(registry, redis):
    redis.hset("test:wish:a", "drained", "perhaps")

    assert registry.announce("a", registry.join("a"), Note(text="x")) == Wish()


@pytest.mark.parametrize("name", ["", "a#1", "x" * 121])
def test_a_name_that_would_confuse_the_keys_is_refused(registry, name):
    with pytest.raises(ValueError, match="expected a name"):
        registry.join(name)


def test_seen_entries_say_their_age():
    seen = Seen(name="a", fence=1, heard_s=10.0, entry=Note(text="x"))

    assert seen.is_fresh
