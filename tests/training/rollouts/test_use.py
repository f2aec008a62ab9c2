"""Use of slots by numbers that a person can check: a window of 10 s, two slots."""

import pytest

from training.rollouts.use import Stay, quantile, slot_use


def use(*stays, num_slots=2):
    return slot_use(stays, since=100.0, until=110.0, num_slots=num_slots)


def test_an_episode_within_the_window_counts_whole():
    found = use(Stay(began=102, occupied_s=6, busy_s=3))

    # 6 and 3 of 20 slot-seconds.
    assert (found.occupied, found.utilization) == (0.3, 0.15)


def test_of_an_episode_that_began_earlier_only_the_part_in_the_window_counts():
    found = use(Stay(began=95, occupied_s=10, busy_s=4))

    # 5 of its 10 s, and with them half of its 4 busy ones.
    assert (found.occupied, found.utilization) == (0.25, 0.1)


def test_what_is_still_played_counts_as_busy_as_what_ended():
    found = use(
        Stay(began=95, occupied_s=10, busy_s=4),
        Stay(began=100, occupied_s=10, busy_s=5),
        Stay(began=105, occupied_s=None),
    )

    # Ended: 5 + 10 s, of which 2 + 5 busy; so 7/15 of the 5 s that go on.
    assert found.occupied == 1.0
    assert found.utilization == pytest.approx((7 + 5 * 7 / 15) / 20)


def test_slots_that_nobody_played_in_count_as_idle():
    stay = Stay(began=100, occupied_s=10, busy_s=10)

    assert use(stay, num_slots=8).utilization == 0.125
    assert use().utilization == use().occupied == 0.0


def test_no_share_is_above_one_when_a_worker_has_left():
    stays = [Stay(began=100, occupied_s=10, busy_s=10)] * 4

    assert use(*stays) == use(*stays, num_slots=1)
    assert use(*stays).utilization == 1.0


def test_an_episode_outside_the_window_counts_for_nothing():
    assert use(Stay(began=80, occupied_s=10, busy_s=10)).occupied == 0.0
    assert use(Stay(began=111, occupied_s=None)).occupied == 0.0


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 20), (0.95, 40), (0.75, 30), (1.0, 40), (0.01, 10)]
)
def test_a_quantile_is_one_of_the_values(share, expected):
    assert quantile([40, 10, 30, 20], share) == expected


def test_a_quantile_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="of 0 values"):
        quantile([], 0.5)
