"""The losses, as sums over tokens, so that micro-batches add up exactly.

Shapes in this file: N response tokens, of all the rows of a micro-batch. Divide a
sum by the tokens of the *whole* batch and the result does not depend on how the
batch was cut (the token mean of DAPO, https://arxiv.org/abs/2503.14476).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

MAX_LOG_RATIO = 20.0
"""exp(20) is 5e8: beyond it a ratio is a bug or an infinity, not information."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SurrogateTerms:
    """The clipped surrogate, and what one wants to know of it."""

    loss_N: Tensor
    """To be minimised, the importance weight applied."""
    is_clipped_N: Tensor
    """Bool; True where clipping changed the value."""
    log_ratio_N: Tensor
    """log π_θ − log π_old, without gradient."""


def clipped_surrogate(
    *,
    logprobs_N: Tensor,
    old_logprobs_N: Tensor,
    advantages_N: Tensor,
    weights_N: Tensor,
    clip_low: float,
    clip_high: float,
    dual_clip: float,
) -> SurrogateTerms:
    """Return PPO's clipped surrogate per token, with clip-higher and dual clip.

    Args:
        logprobs_N: Under the policy in training; the only argument with a gradient.
        old_logprobs_N: Under the weights before this update (π_old of the trainer).
        advantages_N: The advantage of each token's trajectory.
        weights_N: Truncated importance weights of ``importance_weights``.
        clip_low: The ratio counts as no less than ``1 - clip_low``.
        clip_high: The ratio counts as no more than ``1 + clip_high``.
        dual_clip: For negative advantages the loss is at most this times |A|.

    Source:
        PPO, https://arxiv.org/abs/1707.06347, eq. 7; dual clip,
        https://arxiv.org/abs/1912.09729, eq. 5; DART, https://arxiv.org/abs/2509.23866.
    """
    log_ratio_N = (logprobs_N - old_logprobs_N).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    ratio_N = log_ratio_N.exp()
    plain_N = -ratio_N * advantages_N
    clipped_N = -ratio_N.clamp(1 - clip_low, 1 + clip_high) * advantages_N
    loss_N = torch.maximum(plain_N, clipped_N)
    ceiling_N = -dual_clip * advantages_N
    loss_N = torch.where(advantages_N < 0, torch.minimum(loss_N, ceiling_N), loss_N)
    return SurrogateTerms(
        loss_N=loss_N * weights_N,
        is_clipped_N=clipped_N > plain_N,
        log_ratio_N=log_ratio_N.detach(),
    )


def importance_weights(
    *, old_logprobs_N: Tensor, behaviour_logprobs_N: Tensor, cap: float
) -> Tensor:
    """Return min(π_old / π_behaviour, cap) per token, without gradient.

    It corrects for tokens that an older version, or another engine, sampled.

    Source:
        Truncated importance sampling as in DART, https://arxiv.org/abs/2509.23866.
    """
    log_weight_N = (old_logprobs_N - behaviour_logprobs_N).detach()
    return log_weight_N.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp().clamp(max=cap)


def kl_k3(*, logprobs_N: Tensor, reference_logprobs_N: Tensor) -> Tensor:
    """Return the k3 estimate of KL(π_θ ‖ π_ref) per token; never negative.

    Source:
        http://joschu.net/blog/kl-approx.html; GRPO, https://arxiv.org/abs/2402.03300, eq. 4.
    """
    log_ratio_N = (reference_logprobs_N - logprobs_N).clamp(
        -MAX_LOG_RATIO, MAX_LOG_RATIO
    )
    return log_ratio_N.exp() - log_ratio_N - 1


def entropy(logits_NV: Tensor) -> Tensor:
    """Return the entropy of each row's distribution, in nats, without gradient."""
    logprobs_NV = logits_NV.detach().log_softmax(-1)
    # A banned token has log-probability -inf: 0 · inf must count as 0.
    return -(logprobs_NV.exp() * logprobs_NV.clamp(min=-1e4)).sum(-1)
