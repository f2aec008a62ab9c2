import pytest

from training.curation.gate import judge_group


@pytest.mark.parametrize(
    ("rewards", "reason"),
    [
        ([1.0, 1.0, 1.0, 1.0], "solved"),
        ([0.0, 0.0, 0.0, 0.0], "failed"),
        ([0.4, 0.4, 0.4, 0.4], "flat"),
        ([1.0, 1.0 - 1e-7], "solved"),
    ],
)
def test_a_group_of_equals_is_dropped_by_what_it_did(rewards, reason):
    verdict = judge_group(rewards, normalize_std=True)

    assert verdict.dropped_as == reason
    assert not verdict.advantages


def test_a_group_that_differs_may_train():
    verdict = judge_group([1.0, 0.0], normalize_std=False)

    assert verdict.dropped_as is None
    assert verdict.advantages == [0.5, -0.5]


def test_nothing_cannot_be_judged():
    with pytest.raises(ValueError, match="at least one reward"):
        judge_group([], normalize_std=True)
