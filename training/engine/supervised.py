"""One optimizer step of supervised learning: cross-entropy on the answers' tokens."""

from collections.abc import Sequence

import torch

from training.algorithms.losses import entropy
from training.engine.model import TrainedPolicy, token_logprobs
from training.engine.rows import Row, collate, micro_batches


def accumulate(
    policy: TrainedPolicy, rows: Sequence[Row], *, micro_batch_rows: int
) -> dict[str, float]:
    """Add the gradients of the mean loss per response token; returns metrics."""
    num_tokens = sum(len(row.response_ids) for row in rows)
    loss = num_right = entropy_sum = padding = 0.0
    cuts = micro_batches(rows, max_rows=micro_batch_rows)
    for cut in cuts:
        batch = collate(
            [rows[index] for index in cut],
            pad_id=policy.pad_id,
            image_token_id=policy.processor.image_token_id,
        )
        logits_NV = policy.response_logits(batch)
        part = -token_logprobs(logits_NV, batch.target_N).sum() / num_tokens
        part.backward()
        loss += part.item()
        num_right += float((logits_NV.argmax(-1) == batch.target_N).sum())
        entropy_sum += float(entropy(logits_NV).sum())
        padding += batch.padding_share / len(cuts)
    return {
        "sft/loss": loss,
        "sft/token_accuracy": num_right / num_tokens,
        "actor/entropy": entropy_sum / num_tokens,
        "response_length/mean": num_tokens / len(rows),
        "perf/padding_share": padding,
    }


@torch.no_grad()
def mean_loss(policy: TrainedPolicy, rows: Sequence[Row]) -> float:
    """Return the loss without learning from it."""
    batch = collate(
        rows, pad_id=policy.pad_id, image_token_id=policy.processor.image_token_id
    )
    logits_NV = policy.response_logits(batch)
    return float(-token_logprobs(logits_NV, batch.target_N).mean())
