"""Draws tokens and says how likely they were.

Shapes: B rows, V words of the vocabulary.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """One token for each row."""

    ids: list[int]
    logprobs: list[float]
    """Under the distribution that was drawn from."""
    entropies: list[float]
    """Nats, of the same distribution."""


def draw(
    logits_BV: Tensor,
    *,
    banned_V: Tensor,
    temperatures: list[float],
    top_ps: list[float],
    uniforms: list[float],
) -> Drawn:
    """Draw one token for each row.

    The cumulative distribution is inverted, so that a row's token depends on its own
    random number alone and not on its neighbours in the batch.

    Args:
        logits_BV: As the model gives them.
        banned_V: -inf on tokens that must not be drawn, 0 elsewhere.
        temperatures: One for each row; 0 takes the likeliest token and reports the
            log-probability at temperature 1.
        top_ps: Share of the probability that may be drawn, 0 < p <= 1.
        uniforms: One random number for each row, 0 <= u < 1.
    """
    logits_BV = logits_BV.float() + banned_V
    greedy_B = torch.tensor([value == 0.0 for value in temperatures])
    divisors_B = torch.tensor([value or 1.0 for value in temperatures])
    logits_BV = logits_BV / divisors_B.unsqueeze(1)
    if any(p < 1.0 for p in top_ps):
        logits_BV = _keep_nucleus(logits_BV, torch.tensor(top_ps))
    logprobs_BV = torch.log_softmax(logits_BV, dim=-1)
    probs_BV = logprobs_BV.exp()
    # In double precision: the tail of 150,000 words would drown in float32.
    cumulative_BV = probs_BV.double().cumsum(dim=-1)
    sampled_B = _invert(cumulative_BV, torch.tensor(uniforms, dtype=torch.float64))
    ids_B = torch.where(greedy_B, logits_BV.argmax(dim=-1), sampled_B)
    return Drawn(
        ids=ids_B.tolist(),
        logprobs=logprobs_BV.gather(1, ids_B.unsqueeze(1)).squeeze(1).tolist(),
        entropies=torch.special.entr(probs_BV).sum(dim=-1).tolist(),
    )


def _invert(cumulative_BV: Tensor, uniforms_B: Tensor) -> Tensor:
    """Return the first word whose cumulative probability exceeds the random number."""
    total_B1 = cumulative_BV[:, -1:]
    # A product that rounds up to the total would fall behind the last word.
    below_total_B1 = torch.nextafter(total_B1, torch.zeros_like(total_B1))
    thresholds_B1 = torch.minimum(uniforms_B.unsqueeze(1) * total_B1, below_total_B1)
    return torch.searchsorted(cumulative_BV, thresholds_B1, right=True).squeeze(1)


def _keep_nucleus(logits_BV: Tensor, top_p_B: Tensor) -> Tensor:
    """Ban all but the likeliest tokens that together reach top-p, at least one."""
    sorted_BV, order_BV = logits_BV.sort(dim=-1, descending=True)
    before_BV = sorted_BV.softmax(dim=-1).cumsum(dim=-1) - sorted_BV.softmax(dim=-1)
    sorted_BV = sorted_BV.masked_fill(before_BV >= top_p_B.unsqueeze(1), float("-inf"))
    return torch.empty_like(logits_BV).scatter_(1, order_BV, sorted_BV)
