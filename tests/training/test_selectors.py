import pytest

from tests.factories import (
    CheckpointFactory,
    DatasetFactory,
    EvaluationFactory,
    MetricRowFactory,
    RunFactory,
    TrajectoryFactory,
    UserFactory,
)
from training import selectors

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("selector", "make"),
    [
        (selectors.runs_visible_to, lambda user: RunFactory(owner=user)),
        (
            selectors.trajectories_visible_to,
            lambda user: TrajectoryFactory(run=RunFactory(owner=user)),
        ),
        (selectors.datasets_visible_to, lambda user: DatasetFactory(owner=user)),
        (selectors.evaluations_visible_to, lambda user: EvaluationFactory(owner=user)),
        (
            selectors.checkpoints_visible_to,
            lambda user: CheckpointFactory(run=RunFactory(owner=user)),
        ),
    ],
)
def test_one_sees_ones_own_and_an_administrator_sees_all(
    selector, make, alice, mallory
):
    row = make(alice)
    admin = UserFactory(is_superuser=True)

    assert list(selector(alice)) == [row]
    assert list(selector(mallory)) == []
    assert list(selector(admin)) == [row]


def test_who_slept_gets_what_was_missed_in_order():
    run = RunFactory()
    for seq in (3, 1, 2):
        MetricRowFactory(run=run, seq=seq)
    MetricRowFactory()

    rows = selectors.metrics_after(run.pk, 1)

    assert [row.seq for row in rows] == [2, 3]
