from datetime import timedelta

import pytest
from django.utils import timezone

from environments.workers import Cluster, EnvironmentWorker, SlotEntry
from studio.common.registry import RegistryUnreadable, Seen
from tests.factories import GroupFactory, TrajectoryFactory
from training.services import environment_use
from training.services.environment_use import environment_values

pytestmark = pytest.mark.django_db

UNTIL = timezone.now()
SINCE = UNTIL - timedelta(seconds=10)


@pytest.fixture
def cluster(monkeypatch):
    """Four slots of one worker, which ended three processes at its start."""
    entry = EnvironmentWorker(
        host="h",
        pid=1,
        queue="rollouts",
        code="x",
        up_s=9,
        is_supervised=True,
        num_orphans=3,
        slots=tuple(SlotEntry(slot=str(index)) for index in range(4)),
    )
    seen = Seen(name="w", fence=1, heard_s=0.5, entry=entry)
    found = Cluster(workers=((seen, "serving"),))
    monkeypatch.setattr(environment_use, "cluster_now", lambda: found)


@pytest.fixture
def played(run):
    """Make an episode of the run that ended some seconds before the window's end."""
    group = GroupFactory(run=run)

    def make(*, ended_ago, took, **more):
        ended = UNTIL - timedelta(seconds=ended_ago)
        return TrajectoryFactory(
            run=run,
            **{
                "group": group,
                "status": "finished",
                "end_reason": "solved",
                "reward": 1.0,
            }
            | {
                "started_at": ended - timedelta(seconds=took),
                "finished_at": ended,
                "dispatched_at": ended - timedelta(seconds=took),
                "occupied_s": took,
            }
            | more,
        )

    return make


def values(run):
    return environment_values(run, since=SINCE, until=UNTIL)


def test_use_is_the_share_of_all_slots_in_the_time_since_the_row_before(
    run, played, cluster
):
    played(ended_ago=2, took=6, busy_s=3)
    played(ended_ago=5, took=10, busy_s=4)

    found = values(run)

    # 6 + 5 of 40 slot-seconds are occupied, 3 + 2 of them busy.
    assert found["env/occupied"] == pytest.approx(11 / 40)
    assert found["env/utilization"] == pytest.approx(5 / 40)


def test_episodes_that_still_go_on_count_up_to_now(run, played, cluster):
    played(ended_ago=0, took=10, busy_s=5)
    played(
        ended_ago=0,
        took=4,
        status="running",
        finished_at=None,
        occupied_s=0,
        reward=None,
    )

    found = values(run)

    assert found["env/occupied"] == pytest.approx(14 / 40)
    assert found["env/utilization"] == pytest.approx(7 / 40)


def test_speed_is_taken_over_all_actions_of_what_ended_since(run, played, cluster):
    played(ended_ago=1, took=1, reset_s=0.2, step_ms=[10, 40])
    played(ended_ago=2, took=1, reset_s=0.4, step_ms=[30, 20])
    played(ended_ago=3, took=1, reset_s=0.3)
    played(ended_ago=11, took=1, reset_s=9.0, step_ms=[9000])

    found = values(run)

    assert found["env/step_seconds_p50"] == 0.02
    assert found["env/step_seconds_p95"] == 0.04
    assert found["env/reset_seconds_p50"] == 0.3


def test_a_fault_of_the_world_rebuilds_a_slot_and_one_of_the_model_does_not(
    run, played, cluster
):
    for code in ("env_timeout", "env_step", "model", "worker_lost"):
        played(ended_ago=1, took=1, status="faulted", fault_code=code, reward=None)

    found = values(run)

    assert found["env/restarts"] == 2
    assert found["env/orphans"] == 3


def test_without_episodes_slots_are_idle_and_speeds_are_unknown(run, cluster):
    found = values(run)

    assert found["env/utilization"] == found["env/occupied"] == 0
    assert "env/step_seconds_p50" not in found


def test_what_cannot_be_known_is_left_out_instead_of_guessed(run, played, monkeypatch):
    def broken():
        raise RegistryUnreadable("the registry does not answer")

    monkeypatch.setattr(environment_use, "cluster_now", broken)
    played(ended_ago=2, took=6, busy_s=3, step_ms=[10])

    found = values(run)

    assert set(found) == {
        "env/restarts",
        "env/step_seconds_p50",
        "env/step_seconds_p95",
    }


def test_other_runs_episodes_and_evaluations_do_not_count(run, played, cluster):
    played(ended_ago=2, took=6, group=None)
    TrajectoryFactory(
        group=GroupFactory(), started_at=SINCE, finished_at=UNTIL, occupied_s=10
    )

    assert values(run)["env/occupied"] == 0
