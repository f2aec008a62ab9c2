"""What follows from what the environment workers say."""

from environments.workers import (
    EnvironmentWorker,
    SlotEntry,
    cluster_of,
    seconds_in_step,
)
from studio.common.registry import Reading, Seen


def seen(name="w", *, fence=1, heard_s=1.0, num_slots=2, **more):
    entry = EnvironmentWorker(
        host="h",
        pid=7,
        queue="rollouts",
        code="c0de",
        is_supervised=True,
        slots=tuple(SlotEntry(slot=f"{name}-{index}") for index in range(num_slots)),
        **{"up_s": 60} | more,
    )
    return Seen(name=name, fence=fence, heard_s=heard_s, entry=entry)


def states(*found):
    cluster = cluster_of(Reading(seen=found, unreadable=()))
    return [(one.name, one.fence, state) for one, state in cluster.workers]


def test_a_worker_that_is_heard_of_is_in_the_state_that_it_says():
    assert states(seen("a"), seen("b", intake="draining")) == [
        ("a", 1, "serving"),
        ("b", 1, "draining"),
    ]


def test_a_worker_that_fell_silent_is_lost():
    assert states(seen(heard_s=10.1)) == [("w", 1, "lost")]


def test_a_worker_that_said_goodbye_is_not_missed_and_soon_forgotten():
    assert states(seen(heard_s=30, intake="ended")) == [("w", 1, "ended")]
    assert states(seen(heard_s=61, intake="ended")) == []


def test_a_life_that_has_a_successor_is_shown_only_while_it_speaks():
    silent = states(seen(fence=1, heard_s=11), seen(fence=2))
    speaking = states(seen(fence=1), seen(fence=2))

    assert silent == [("w", 2, "serving")]
    assert speaking == [("w", 1, "doubled"), ("w", 2, "serving")]


def test_a_life_that_was_killed_is_replaced_as_soon_as_its_successor_speaks():
    killed, successor = seen(fence=1, heard_s=4), seen(fence=2, heard_s=1, up_s=2)

    assert states(killed, successor) == [("w", 2, "serving")]


def test_the_slots_that_count_are_those_of_workers_that_take_work():
    cluster = cluster_of(
        Reading(
            seen=(
                seen("a", num_slots=8),
                seen("b", num_slots=4, intake="drained"),
                seen("c", num_slots=2, heard_s=60),
            ),
            unreadable=(),
        )
    )

    assert cluster.num_slots == 8
    assert [one.name for one in cluster.present] == ["a", "b"]
    assert [one.name for one in cluster.lost] == ["c"]


def test_the_seconds_in_a_step_need_no_common_clock():
    slot = SlotEntry(slot="w-0", state="acting", for_s=3.0)

    assert seconds_in_step(seen(heard_s=1.5), slot) == 3.0
    assert seconds_in_step(seen(heard_s=20.0), slot) == 23.0


def test_an_entry_of_a_later_release_is_read_as_far_as_it_is_known():
    text = seen().entry.model_dump_json()[:-1] + ', "colour": "blue"}'

    assert EnvironmentWorker.model_validate_json(text) == seen().entry
