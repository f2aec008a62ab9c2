import math

import pytest

from training.algorithms.advantages import group_advantages


def test_the_best_of_three_is_above_and_the_worst_below():
    advantages = group_advantages([1.0, 3.0, 2.0])

    deviation = math.sqrt(2 / 3)
    assert advantages == pytest.approx([-1 / deviation, 1 / deviation, 0.0], abs=1e-5)


def test_a_faulted_row_enters_neither_mean_nor_deviation():
    with_fault = group_advantages([1.0, 3.0, 2.0, None])

    assert with_fault == [*group_advantages([1.0, 3.0, 2.0]), None]


def test_one_success_in_four_is_worth_the_square_root_of_three():
    advantages = group_advantages([1.0, 0.0, 0.0, 0.0])

    assert advantages == pytest.approx([3**0.5, *[-(3**-0.5)] * 3], abs=1e-4)


def test_tiny_differences_do_not_explode():
    advantages = group_advantages([0.5, 0.5 + 2e-6])

    assert max(map(abs, advantages)) == pytest.approx(1e-3, rel=0.01)


def test_without_normalising_only_the_mean_is_taken_off():
    assert group_advantages([1.0, 0.0], normalize_std=False) == [0.5, -0.5]


def test_a_group_of_faults_alone_has_no_advantage():
    with pytest.raises(ValueError, match="at least one reward"):
        group_advantages([None, None])
