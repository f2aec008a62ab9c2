"""Group-relative advantages: how much better than its siblings a rollout did.

Plain Python, no torch: the manager computes them, the trainer only reads them.
"""

import statistics
from collections.abc import Sequence
from typing import Final

STD_FLOOR: Final = 1e-3
"""Tiny float differences must not become large advantages."""
STD_EPSILON: Final = 1e-6


def group_advantages(
    rewards: Sequence[float | None], *, normalize_std: bool = True
) -> list[float | None]:
    """Return A = (R − mean) / (max(std, 1e-3) + 1e-6) for each rollout of a group.

    Args:
        rewards: One per rollout of the same task and seed, in order; None where the
            infrastructure failed: such a row enters neither mean nor deviation.
        normalize_std: Divide by the population standard deviation, as GRPO does;
            without it, this is Dr. GRPO's advantage.

    Returns:
        One per reward, in order; None stays None. At most √(N−1) in size when
        normalised.

    Raises:
        ValueError: If there is no reward at all.

    Source:
        GRPO, https://arxiv.org/abs/2402.03300; Dr. GRPO,
        https://arxiv.org/abs/2503.20783.
    """
    known = [reward for reward in rewards if reward is not None]
    if not known:
        raise ValueError("a group needs at least one reward, got none")
    mean = statistics.fmean(known)
    scale = 1.0
    if normalize_std:
        scale = max(statistics.pstdev(known), STD_FLOOR) + STD_EPSILON
    return [None if reward is None else (reward - mean) / scale for reward in rewards]
