from types import SimpleNamespace

import pytest

from agents.inference.sync import SyncOutcome
from agents.inference.types import Weights
from training.services import messages, syncing
from training.services.syncing import is_live_everywhere, is_served, weights_sync

pytestmark = pytest.mark.django_db

WANTED = {"run-x": Weights(version=2, path="/x/000002", sha256="b" * 64)}


class Locks:
    """What is asked of Redis: a lock that is set once and removed by its holder."""

    def __init__(self):
        self.held = {}

    def set(self, key, token, *, nx, ex):
        if key in self.held:
            return None
        self.held[key] = token
        return True

    def eval(self, script, num_keys, key, token):
        if self.held.get(key) == token:
            del self.held[key]


def worker(name, **models):
    return SimpleNamespace(
        worker_id=name,
        models=dict(models),
        sha256s=dict.fromkeys(models, "b" * 64),
    )


@pytest.fixture
def locks(monkeypatch):
    locks = Locks()
    monkeypatch.setattr(messages, "redis_connection", lambda: locks)
    monkeypatch.setattr(syncing, "desired_weights", lambda: WANTED)
    return locks


@pytest.fixture
def synced(monkeypatch):
    """Note which workers were brought up to date."""
    notes = []

    async def bring_up_to_date(workers, desired, *, secret):
        notes.extend(worker.worker_id for worker in workers)
        return [SyncOutcome(worker_id=workers[0].worker_id, model="run-x", version=2)]

    monkeypatch.setattr(syncing, "bring_up_to_date", bring_up_to_date)
    return notes


def use(monkeypatch, *workers):
    monkeypatch.setattr(syncing, "workers_alive", lambda: list(workers))


def test_only_workers_that_are_behind_are_synced(locks, synced, monkeypatch):
    use(
        monkeypatch,
        worker("new", **{"run-x": 2}),
        worker("old", **{"run-x": 1}),
        worker("restarted"),
    )

    outcomes = weights_sync()

    assert sorted(synced) == ["old", "restarted"]
    assert len(outcomes) == 2
    assert locks.held == {}


def test_two_syncs_of_one_worker_never_overlap(locks, synced, monkeypatch):
    use(monkeypatch, worker("busy"), worker("free"))
    locks.held["oche:sync:busy"] = "another manager's"

    weights_sync()

    assert synced == ["free"]
    assert locks.held == {"oche:sync:busy": "another manager's"}


def test_a_sync_that_breaks_gives_its_worker_back(locks, monkeypatch):
    async def break_down(workers, desired, *, secret):
        raise RuntimeError("bug")

    monkeypatch.setattr(syncing, "bring_up_to_date", break_down)
    use(monkeypatch, worker("one"))

    with pytest.raises(RuntimeError):
        weights_sync()
    assert locks.held == {}


def test_a_run_is_served_when_anyone_has_it_and_live_when_all_have_its_newest(
    run, monkeypatch
):
    name = f"run-{run.pk}"
    run.policy_version = 3
    use(monkeypatch, worker("a", **{name: 3}), worker("b", **{name: 2}))

    assert is_served(run)
    assert not is_live_everywhere(run)

    use(monkeypatch, worker("a", **{name: 3}), worker("b", **{name: 3}))
    assert is_live_everywhere(run)

    use(monkeypatch)
    assert not is_served(run)
    assert not is_live_everywhere(run)
