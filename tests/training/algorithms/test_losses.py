import math

import pytest
import torch

from training.algorithms.losses import (
    clipped_surrogate,
    entropy,
    importance_weights,
    kl_k3,
)


def surrogate(ratio, advantage, weight=1.0):
    """Return loss and gradient of one token whose policy ratio is given."""
    logprob = torch.tensor([math.log(ratio)], requires_grad=True)
    terms = clipped_surrogate(
        logprobs_N=logprob,
        old_logprobs_N=torch.zeros(1),
        advantages_N=torch.tensor([advantage]),
        weights_N=torch.tensor([weight]),
        clip_low=0.2,
        clip_high=0.28,
        dual_clip=10.0,
    )
    terms.loss_N.sum().backward()
    return terms.loss_N.item(), logprob.grad.item(), bool(terms.is_clipped_N)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "has_gradient", "is_clipped"),
    [
        (1.0, 1.0, -1.0, True, False),
        (1.5, 1.0, -1.28, False, True),  # better already: no further push
        (0.5, 1.0, -0.5, True, False),  # worse than before: pushed back up
        (1.5, -1.0, 1.5, True, False),  # a bad token got likelier: pushed down
        (0.5, -1.0, 0.8, False, True),  # pushed down enough
        (50.0, -1.0, 10.0, False, False),  # dual clip: 10 times |A| at most
    ],
)
def test_the_surrogate_stops_pushing_outside_its_clip_range(
    ratio, advantage, loss, has_gradient, is_clipped
):
    value, gradient, clipped = surrogate(ratio, advantage)

    assert value == pytest.approx(loss, rel=1e-5)
    assert (gradient != 0) == has_gradient
    assert clipped == is_clipped


def test_on_policy_the_gradient_is_minus_the_advantage():
    _, gradient, _ = surrogate(1.0, 0.75)

    assert gradient == pytest.approx(-0.75)


def test_the_importance_weight_scales_loss_and_gradient():
    value, gradient, _ = surrogate(1.0, 2.0, weight=0.25)

    assert (value, gradient) == pytest.approx((-0.5, -0.5))


def test_a_log_ratio_of_any_size_stays_finite():
    value, _, _ = surrogate(1e-30, -1.0)

    assert math.isfinite(value)


def test_importance_weights_are_truncated_from_above_only():
    weights = importance_weights(
        old_logprobs_N=torch.log(torch.tensor([0.2, 0.4, 0.9])),
        behaviour_logprobs_N=torch.log(torch.tensor([0.4, 0.4, 0.3])),
        cap=1.0,
    )

    assert weights.tolist() == pytest.approx([0.5, 1.0, 1.0])


def test_importance_weights_carry_no_gradient():
    old = torch.zeros(2, requires_grad=True)

    weights = importance_weights(
        old_logprobs_N=old, behaviour_logprobs_N=torch.zeros(2), cap=1.0
    )

    assert not weights.requires_grad


def test_k3_of_two_distributions_is_their_divergence_in_the_mean():
    # Under p = (1/2, 1/2) against q = (1/4, 3/4): KL = log 2 - log(3)/2.
    p = torch.tensor([0.5, 0.5])
    q = torch.tensor([0.25, 0.75])

    k3 = kl_k3(logprobs_N=p.log(), reference_logprobs_N=q.log())

    assert (p * k3).sum().item() == pytest.approx(math.log(2) - math.log(3) / 2)
    assert (k3 >= 0).all()


def test_k3_of_equal_distributions_is_zero():
    assert kl_k3(
        logprobs_N=torch.tensor([-1.0]), reference_logprobs_N=torch.tensor([-1.0])
    ).tolist() == [0.0]


def test_entropy_counts_a_banned_token_as_impossible():
    logits = torch.tensor(
        [[0.0, 0.0, float("-inf")], [0.0, float("-inf"), float("-inf")]]
    )

    assert entropy(logits).tolist() == pytest.approx([math.log(2), 0.0])
