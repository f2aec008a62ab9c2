"""Groups in flight: broken tries are rolled again, complete groups are judged."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from training.config import RlConfig
from training.curation.batches import staleness
from training.curation.gate import judge_group
from training.models import Group, Run, RunTransition, Trajectory
from training.services import messages
from training.services.commits import after_commit
from training.services.leases import RunLease, owned_run
from training.services.trajectories import (
    MAX_TRIES,
    trajectories_cancel,
    trajectories_roll_again,
)
from training.states import DropReason, GroupStatus, RunStatus, TrajectoryStatus

MAX_BROKEN_GROUPS = 5
"""So many groups given up in a row, and the world itself is broken: the run fails."""


@dataclass(kw_only=True, slots=True)
class Survey:
    """What has become of one group's rollouts."""

    group: Group
    finished: dict[int, Trajectory] = field(default_factory=dict)
    """By index, 0 … N−1."""
    in_flight: set[int] = field(default_factory=set)
    faulted: dict[int, list[Trajectory]] = field(default_factory=dict)
    """Every broken try, by index."""

    @property
    def is_complete(self) -> bool:
        """Return whether every rollout finished."""
        return len(self.finished) == self.group.num_rollouts

    @property
    def to_roll_again(self) -> list[Trajectory]:
        """Return one broken try of each rollout that nobody works on."""
        return [
            tries[0]
            for index, tries in self.faulted.items()
            if index not in self.finished and index not in self.in_flight
        ]

    @property
    def broken(self) -> Trajectory | None:
        """Return a try of a rollout that broke too often, if there is one."""
        for row in self.to_roll_again:
            tries = self.faulted[row.index]
            if len(tries) >= MAX_TRIES:
                return tries[-1]
        return None


def groups_survey(run_id: UUID) -> list[Survey]:
    """Look at all open groups of a run, oldest first; a bounded number of rows."""
    open_groups = Group.objects.filter(run_id=run_id, status=GroupStatus.OPEN)
    surveys = {
        group.pk: Survey(group=group)
        for group in open_groups.select_related("task").order_by("created_at", "id")
    }
    rows = Trajectory.objects.filter(group_id__in=list(surveys)).order_by("started_at")
    for row in rows:
        survey = surveys[row.group_id]  # type: ignore[index]
        if row.status == TrajectoryStatus.FINISHED:
            survey.finished[row.index] = row
        elif row.status == TrajectoryStatus.FAULTED:
            survey.faulted.setdefault(row.index, []).append(row)
        elif row.status != TrajectoryStatus.CANCELLED:
            survey.in_flight.add(row.index)
    return list(surveys.values())


def groups_advance(lease: RunLease, *, config: RlConfig) -> None:
    """Judge what is complete, roll again what broke, give up what keeps breaking.

    Raises:
        LeaseLost: If another manager took over.
    """
    surveys = groups_survey(lease.run_id)
    complete = [survey for survey in surveys if survey.is_complete]
    broken = [survey for survey in surveys if survey.broken is not None]
    again = [
        row
        for survey in surveys
        if survey.broken is None
        for row in survey.to_roll_again
    ]
    if not (complete or broken or again):
        return
    with owned_run(lease) as run:
        for survey in complete:
            _judge(survey, run=run, config=config)
        for survey in broken:
            _give_up(survey, run=run)
        fresh = trajectories_roll_again(again)
        ids = [row.pk for row in fresh]
        after_commit(messages.send_trajectories, ids)


def world_is_broken(run_id: UUID) -> bool:
    """Return whether this attempt's newest groups were all given up for faults."""
    settled = Group.objects.filter(run_id=run_id).exclude(status=GroupStatus.OPEN)
    settled = settled.exclude(drop_reason=DropReason.RUN_OVER)
    began = (
        RunTransition.objects.filter(run_id=run_id, new_status=RunStatus.STARTING)
        .order_by("-at")
        .first()
    )
    if began is not None:
        # What broke an earlier attempt may be mended since.
        settled = settled.filter(created_at__gt=began.at)
    newest = settled.order_by("-created_at", "-id").values_list(
        "drop_reason", flat=True
    )
    reasons = list(newest[:MAX_BROKEN_GROUPS])
    return len(reasons) == MAX_BROKEN_GROUPS and set(reasons) == {DropReason.FAULTED}


def groups_drop(groups: Iterable[Group], reason: DropReason) -> None:
    """Drop groups, each with the same reason."""
    ids = [group.pk for group in groups]
    Group.objects.filter(pk__in=ids).update(
        status=GroupStatus.DROPPED, drop_reason=reason
    )


def _judge(survey: Survey, *, run: Run, config: RlConfig) -> None:
    group = survey.group
    rows = [survey.finished[index] for index in sorted(survey.finished)]
    oldest = min(row.min_version or 0 for row in rows)
    behind = staleness(trainer_version=run.policy_version, min_version=oldest)
    if behind > config.asynchrony.max_staleness:
        groups_drop([group], DropReason.STALE)
        return
    verdict = judge_group(
        [row.reward or 0.0 for row in rows], normalize_std=config.grpo.normalize_std
    )
    if verdict.dropped_as is not None:
        groups_drop([group], DropReason(verdict.dropped_as))
        return
    for row, advantage in zip(rows, verdict.advantages, strict=True):
        row.advantage = advantage
    Trajectory.objects.bulk_update(rows, ["advantage"])
    Group.objects.filter(pk=group.pk).update(status=GroupStatus.READY)


def _give_up(survey: Survey, *, run: Run) -> None:
    groups_drop([survey.group], DropReason.FAULTED)
    trajectories_cancel(survey.group.trajectories.all())
    last = survey.broken
    detail = f"{last.fault_code}: {last.fault_detail[:300]}" if last else ""
    run.reason = f"Gave up {survey.group} after {MAX_TRIES} broken tries. {detail}"
    run.save(update_fields=["reason"])
