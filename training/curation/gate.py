"""The gate of a complete group: whether its rewards tell anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from training.algorithms.advantages import group_advantages

SOLVED_ABOVE: Final = 0.5
"""What ``EndReason.SOLVED`` means."""
FLAT_SPREAD: Final = 1e-6
"""Rewards closer together than this are equal."""

Flatness = Literal["solved", "failed", "flat"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What becomes of a group."""

    advantages: Sequence[float]
    """One per rollout, in order; empty when the group is dropped."""
    dropped_as: Flatness | None = None
    """Why it teaches nothing; None when it may train."""


def judge_group(rewards: Sequence[float], *, normalize_std: bool) -> Verdict:
    """Judge a group of which every rollout finished.

    Args:
        rewards: One per rollout; faulted ones were rolled again, never a 0.
        normalize_std: As in ``group_advantages``.

    Raises:
        ValueError: If there is no reward.
    """
    if not rewards:
        raise ValueError("a complete group has at least one reward, got none")
    if max(rewards) - min(rewards) > FLAT_SPREAD:
        advantages = group_advantages(rewards, normalize_std=normalize_std)
        return Verdict(advantages=[a for a in advantages if a is not None])
    if rewards[0] > SOLVED_ABOVE:
        return Verdict(advantages=(), dropped_as="solved")
    if rewards[0] <= FLAT_SPREAD:
        return Verdict(advantages=(), dropped_as="failed")
    return Verdict(advantages=(), dropped_as="flat")
