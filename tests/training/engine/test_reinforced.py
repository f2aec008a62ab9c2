import dataclasses
import math

import numpy as np
import pytest
import torch

from training.config import GrpoConfig
from training.engine import reinforced
from training.engine.model import token_logprobs
from training.engine.rows import collate

CONFIG = GrpoConfig(kl_coefficient=0.0)


def logprobs_of(policy, row):
    batch = collate(
        [row], pad_id=policy.pad_id, image_token_id=policy.processor.image_token_id
    )
    with torch.no_grad():
        return token_logprobs(policy.response_logits(batch), batch.target_N)


def on_policy(policy, row):
    return dataclasses.replace(
        row, behaviour_logprobs=logprobs_of(policy, row).numpy().astype(np.float32)
    )


def accumulate(policy, rows, micro_batch_rows=8, reference=None, config=CONFIG):
    policy.model.zero_grad()
    return reinforced.accumulate(
        policy,
        rows,
        config=config,
        reference=reference,
        temperature=1.0,
        micro_batch_rows=micro_batch_rows,
    )


def gradient(policy):
    return torch.cat(
        [p.grad.flatten() for p in policy.model.parameters() if p.grad is not None]
    )


@pytest.mark.parametrize("micro_batch_rows", [1, 3, 8])
def test_on_policy_nothing_is_clipped_and_every_weight_is_one(
    policy, make_row, micro_batch_rows
):
    rows = [on_policy(policy, make_row(n, advantage=1.0 - n)) for n in range(3)]

    metrics = accumulate(policy, rows, micro_batch_rows)

    assert metrics["actor/pg_clipfrac"] == 0.0
    assert metrics["actor/ppo_kl"] == 0.0
    assert metrics["rollout_corr/rollout_is_mean"] == pytest.approx(1.0, abs=1e-4)
    assert metrics["rollout_corr/kl"] == pytest.approx(0.0, abs=1e-4)


def test_the_gradient_does_not_depend_on_how_the_batch_is_cut(policy, make_row):
    rows = [on_policy(policy, make_row(n, advantage=1.0 - n)) for n in range(3)]

    accumulate(policy, rows, 8)
    whole = gradient(policy).clone()
    accumulate(policy, rows, 1)

    assert torch.allclose(whole, gradient(policy), atol=1e-5)


def test_a_good_answer_becomes_likelier_and_a_bad_one_less(policy, make_row):
    good = on_policy(policy, make_row(0, advantage=1.0))
    bad = on_policy(policy, make_row(1, advantage=-1.0))
    before = [logprobs_of(policy, row).sum() for row in (good, bad)]

    accumulate(policy, [good, bad])
    with torch.no_grad():
        for parameter in policy.model.parameters():
            if parameter.grad is not None:
                parameter -= 0.05 * parameter.grad

    after = [logprobs_of(policy, row).sum() for row in (good, bad)]
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_rows_without_advantage_leave_the_policy_alone(policy, make_row):
    accumulate(policy, [on_policy(policy, make_row(0, advantage=0.0))])

    assert gradient(policy).abs().max() == 0.0


def test_tokens_that_the_old_policy_liked_twice_as_much_count_half(policy, make_row):
    row = on_policy(policy, make_row(0, advantage=1.0))
    stale = dataclasses.replace(
        row, behaviour_logprobs=row.behaviour_logprobs + math.log(2)
    )

    metrics = accumulate(policy, [stale])

    assert metrics["rollout_corr/rollout_is_mean"] == pytest.approx(0.5, abs=1e-4)
    assert metrics["actor/pg_loss"] == pytest.approx(-0.5, abs=1e-4)
    assert metrics["rollout_corr/kl"] == pytest.approx(math.log(2), abs=1e-4)


def test_the_distance_to_itself_as_reference_is_zero(policy, make_row):
    config = GrpoConfig(kl_coefficient=0.5)

    metrics = accumulate(
        policy,
        [on_policy(policy, make_row(0, advantage=1.0))],
        reference=policy,
        config=config,
    )

    assert metrics["actor/kl_loss"] == pytest.approx(0.0, abs=1e-6)
