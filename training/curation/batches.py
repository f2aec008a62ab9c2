"""Choosing the groups of one optimizer step: oldest first, none too stale."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate(Generic[T]):
    """A group that may train."""

    group: T
    min_version: int
    """The oldest policy version that sampled any of its tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice(Generic[T]):
    """What was made of the candidates; the rest waits."""

    batch: Sequence[T]
    """``groups_per_step`` of them, oldest first, or empty: a batch is never small."""
    stale: Sequence[T]
    """Too old by now, however long they waited."""


def staleness(*, trainer_version: int, min_version: int) -> int:
    """Return how many versions behind the trainer the oldest token is."""
    return max(0, trainer_version - min_version)


def choose_batch(
    candidates: Sequence[Candidate[T]],
    *,
    groups_per_step: int,
    trainer_version: int,
    max_staleness: int,
) -> Choice[T]:
    """Choose a batch.

    Args:
        candidates: Ready groups, oldest first.
        groups_per_step: Groups that one optimizer step takes.
        trainer_version: The version that the step will start from.
        max_staleness: Versions that a token may be behind it.
    """
    stale: list[T] = []
    fresh: list[T] = []
    for candidate in candidates:
        behind = staleness(
            trainer_version=trainer_version, min_version=candidate.min_version
        )
        (stale if behind > max_staleness else fresh).append(candidate.group)
    is_enough = len(fresh) >= groups_per_step
    return Choice(batch=fresh[:groups_per_step] if is_enough else (), stale=stale)
