import pytest
import torch

from training.config import OptimizerConfig
from training.engine import supervised
from training.engine.optimizer import PolicyOptimizer


def gradient_of(policy, rows, micro_batch_rows):
    policy.model.zero_grad()
    supervised.accumulate(policy, rows, micro_batch_rows=micro_batch_rows)
    return torch.cat(
        [p.grad.flatten() for p in policy.model.parameters() if p.grad is not None]
    )


def test_the_gradient_does_not_depend_on_how_the_batch_is_cut(policy, make_row):
    rows = [make_row(number) for number in range(4)]

    whole = gradient_of(policy, rows, 4)
    cut = gradient_of(policy, rows, 1)

    assert torch.allclose(whole, cut, atol=1e-5)
    assert whole.abs().max() > 1e-3


def test_the_loss_is_the_mean_over_response_tokens_only(policy, make_row):
    rows = [make_row(0), make_row(1)]

    metrics = supervised.accumulate(policy, rows, micro_batch_rows=2)

    assert metrics["sft/loss"] == pytest.approx(
        supervised.mean_loss(policy, rows), rel=1e-5
    )
    # <|click|> <x> <y> end = 4 tokens; <|type|> B o b end = 5.
    assert metrics["response_length/mean"] == 4.5


def test_a_policy_learns_four_answers_by_heart(policy, make_row):
    rows = [make_row(number) for number in range(4)]
    config = OptimizerConfig(
        learning_rate=2e-3, matrix_learning_rate=2e-3, weight_decay=0.0
    )
    optimizer = PolicyOptimizer(policy.model, config, total_steps=40)

    before = supervised.mean_loss(policy, rows)
    for step in range(1, 41):
        supervised.accumulate(policy, rows, micro_batch_rows=4)
        optimizer.step(step)

    assert before > 4.0
    assert supervised.mean_loss(policy, rows) < 0.1


def test_structural_tokens_have_no_probability(policy, make_row):
    from training.engine.rows import collate

    batch = collate(
        [make_row(0)],
        pad_id=policy.pad_id,
        image_token_id=policy.processor.image_token_id,
    )

    probabilities = policy.response_logits(batch).softmax(-1)

    banned = list(policy.processor.banned_token_ids)
    assert probabilities[:, banned].max() == 0.0
    assert probabilities.sum(-1).tolist() == pytest.approx([1.0] * 4)
