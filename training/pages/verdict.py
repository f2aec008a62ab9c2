"""What became of a trajectory, and why: trained, dropped, waiting; with its siblings."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Final

from training.models import Trajectory
from training.states import DropReason, GroupStatus, TrajectoryStatus

DROPPED: Final = {
    DropReason.SOLVED: "Every rollout of the group succeeded: nothing to compare",
    DropReason.FAILED: "Every rollout of the group failed: nothing to compare",
    DropReason.FLAT: "All rewards of the group are equal: nothing to compare",
    DropReason.STALE: "The policy moved on too far before the group’s turn came",
    DropReason.FAULTED: "Too many tries of the group were broken by the infrastructure",
    DropReason.RUN_OVER: "The run ended before the group was complete",
}

WAITS: Final = {
    GroupStatus.OPEN: "The group is not complete yet",
    GroupStatus.READY: "The group waits for its optimizer step",
    GroupStatus.BATCHED: "The group is in the batch of the next optimizer step",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """One line of a verdict."""

    icon: str
    role: str
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What became of a trajectory."""

    status: str
    """A key of the status table."""
    reasons: Sequence[Reason]
    siblings: Sequence[Trajectory]
    """Of its group, in order, broken tries left out; itself among them."""
    mean: float | None
    std: float | None
    """Of the siblings' rewards, population."""


def verdict_of(trajectory: Trajectory) -> Verdict:
    """Return the verdict; one query for the siblings."""
    group = trajectory.group
    if group is None:
        return Verdict(
            status="finished",
            reasons=[_ungrouped(trajectory)],
            siblings=[],
            mean=None,
            std=None,
        )
    rows = list(group.trajectories.order_by("index", "dispatched_at"))
    siblings = [one for one in rows if one.status != TrajectoryStatus.FAULTED]
    rewards = [one.reward for one in siblings if one.reward is not None]
    return Verdict(
        status=group.status,
        reasons=_reasons(trajectory, rewards, num_again=len(rows) - len(siblings)),
        siblings=siblings,
        mean=fmean(rewards) if rewards else None,
        std=pstdev(rewards) if rewards else None,
    )


def _ungrouped(trajectory: Trajectory) -> Reason:
    if trajectory.evaluation_id:
        return Reason(
            icon="eval",
            role="quiet",
            words="Held out: played to measure, never trained",
        )
    return Reason(icon="info", role="quiet", words="Belongs to no group of a run")


def _reasons(
    trajectory: Trajectory, rewards: Sequence[float], *, num_again: int
) -> list[Reason]:
    group = trajectory.group
    assert group is not None  # noqa: S101 - the caller has looked
    complete = len(rewards) >= group.num_rollouts
    again = f", {num_again} rolled again" if num_again else ""
    reasons = [
        Reason(
            icon="tick" if complete else "clock",
            role="ok" if complete else "quiet",
            words=f"{len(rewards)} of {group.num_rollouts} finished{again}",
        )
    ]
    if rewards:
        num_solved = sum(reward > 0.5 for reward in rewards)
        differ = max(rewards) - min(rewards) > 1e-6
        reasons.append(
            Reason(
                icon="tick" if differ else "x",
                role="ok" if differ else "quiet",
                words=f"Rewards {'differ' if differ else 'do not differ'}: "
                f"{num_solved} of {len(rewards)} solved",
            )
        )
    if group.status == GroupStatus.DROPPED:
        words = DROPPED.get(DropReason(group.drop_reason), "Dropped")
        reasons.append(Reason(icon="slash", role="quiet", words=words))
    elif group.status in WAITS:
        words = WAITS[GroupStatus(group.status)]
        reasons.append(Reason(icon="clock", role="quiet", words=words))
    elif group.batch is not None:
        words = f"In the batch of optimizer step {group.batch.step}"
        reasons.append(Reason(icon="tick", role="ok", words=words))
        reasons += _staleness(trajectory, group.batch.step)
    return reasons


def _staleness(trajectory: Trajectory, step: int) -> list[Reason]:
    if trajectory.min_version is None:
        return []
    # The batch of optimizer step n is learned from by version n - 1.
    staleness = max(0, step - 1 - trajectory.min_version)
    words = f"Staleness {staleness} at the batch"
    return [Reason(icon="tick", role="ok", words=words)]
