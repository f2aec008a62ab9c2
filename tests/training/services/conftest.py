"""Messages are noted instead of sent; workers are what a test says they are."""

from collections import defaultdict
from types import SimpleNamespace

import pytest

from tests.factories import GroupFactory, RunFactory, TaskFactory, TrajectoryFactory
from training.config import RlConfig
from training.services import advancing, messages, starting
from training.services.leases import run_lease_claim
from training.states import GroupStatus, TrajectoryStatus

SENDERS = [name for name in vars(messages) if name.startswith("send_")]


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """Note every message by its sender: ``sent["train_step"]`` is a list of ids."""
    notes = defaultdict(list)

    def noting(kind):
        def note(*args, **kwargs):
            first = args[0] if args else None
            notes[kind] += list(first) if kind == "trajectories" else [first]

        return note

    for name in SENDERS:
        kind = name.removeprefix("send_")
        monkeypatch.setattr(messages, name, noting(kind))
    monkeypatch.setattr(messages, "advance_heard", lambda *args, **kwargs: None)
    monkeypatch.setattr(messages, "num_waiting_rollouts", lambda: 0)
    return notes


@pytest.fixture
def served(monkeypatch):
    """Let an inference worker serve whatever is asked for; ``served(on=False)`` ends it."""
    state = SimpleNamespace(on=True)

    def switch(*, on):
        state.on = on

    for module in (advancing, starting):
        monkeypatch.setattr(module, "is_served", lambda run: state.on)
    monkeypatch.setattr(advancing, "is_live_everywhere", lambda run: state.on)
    return switch


@pytest.fixture
def config():
    """Two groups of two make a batch."""
    return RlConfig.model_validate(
        {
            "kind": "rl",
            "tasks": ["miniwob/click-test"],
            "grpo": {"group_size": 2, "groups_per_step": 2, "normalize_std": False},
            "asynchrony": {"max_staleness": 1},
            "max_optimizer_steps": 3,
        }
    )


@pytest.fixture
def run(alice, config):
    """A run of alice's that is under way."""
    TaskFactory()
    return RunFactory(owner=alice, running=True, config=config.model_dump(mode="json"))


@pytest.fixture
def lease(run):
    """The right to advance the run."""
    return run_lease_claim(run_id=run.pk)


@pytest.fixture
def make_group(run):
    """Make a group: ``make_group([1.0, None])`` has a success and a fault."""

    def make(rewards, *, status=GroupStatus.OPEN, version=0, num_rollouts=None):
        group = GroupFactory(
            run=run, num_rollouts=num_rollouts or len(rewards), status=status
        )
        for index, reward in enumerate(rewards):
            over = (
                {"status": TrajectoryStatus.FAULTED, "fault_code": "env_step"}
                if reward is None
                else {
                    "status": TrajectoryStatus.FINISHED,
                    "reward": reward,
                    "end_reason": "solved" if reward > 0.5 else "unsolved",
                    "num_steps": 2,
                    "min_version": version,
                    "max_version": version,
                    "path": f"runs/{run.pk}/trajectories/{index}",
                }
            )
            TrajectoryFactory(
                run=run, group=group, seed=group.seed, index=index, **over
            )
        return group

    return make
