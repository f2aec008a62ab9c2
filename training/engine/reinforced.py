"""One optimizer step of GRPO on rollouts, with truncated importance sampling."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from training.algorithms.losses import (
    clipped_surrogate,
    entropy,
    importance_weights,
    kl_k3,
)
from training.config import GrpoConfig
from training.engine.model import TrainedPolicy, token_logprobs
from training.engine.rows import MicroBatch, Row, collate, micro_batches


@dataclass(kw_only=True)
class _Tally:
    """What is measured per token, gathered over the micro-batches."""

    values: dict[str, list[Tensor]] = field(default_factory=dict)

    def add(self, **values_N: Tensor) -> None:
        for name, value_N in values_N.items():
            self.values.setdefault(name, []).append(value_N.detach().float())

    def all(self, name: str) -> Tensor:
        return torch.cat(self.values[name])


def accumulate(
    policy: TrainedPolicy,
    rows: Sequence[Row],
    *,
    config: GrpoConfig,
    reference: TrainedPolicy | None,
    temperature: float,
    micro_batch_rows: int,
) -> dict[str, float]:
    """Add the gradients of the mean loss per response token; returns metrics.

    There is one update per batch, so π_old is the policy itself before it: the ratio
    is exactly 1, however the rows are cut, and nothing has to be computed twice.
    """
    num_tokens = sum(len(row.response_ids) for row in rows)
    tally = _Tally()
    for cut in micro_batches(rows, max_rows=micro_batch_rows):
        part = [rows[index] for index in cut]
        batch = collate(
            part,
            pad_id=policy.pad_id,
            image_token_id=policy.processor.image_token_id,
        )
        loss_N = _loss(policy, part, batch, config, reference, temperature, tally)
        (loss_N.sum() / num_tokens).backward()
    return _metrics(tally, rows)


def _loss(
    policy: TrainedPolicy,
    rows: Sequence[Row],
    batch: MicroBatch,
    config: GrpoConfig,
    reference: TrainedPolicy | None,
    temperature: float,
    tally: _Tally,
) -> Tensor:
    logits_NV = policy.response_logits(batch) / temperature
    logprobs_N = token_logprobs(logits_NV, batch.target_N)
    old_N = logprobs_N.detach()
    behaviour_N = torch.from_numpy(
        np.concatenate([row.behaviour_logprobs for row in rows])
    ).float()
    advantages_N = torch.tensor([row.advantage for row in rows])[batch.row_N]
    weights_N = importance_weights(
        old_logprobs_N=old_N,
        behaviour_logprobs_N=behaviour_N,
        cap=config.importance_cap,
    )
    terms = clipped_surrogate(
        logprobs_N=logprobs_N,
        old_logprobs_N=old_N,
        advantages_N=advantages_N,
        weights_N=weights_N,
        clip_low=config.clip_low,
        clip_high=config.clip_high,
        dual_clip=config.dual_clip,
    )
    loss_N = terms.loss_N
    tally.add(
        pg_loss=terms.loss_N,
        clipped=terms.is_clipped_N,
        log_ratio=terms.log_ratio_N,
        entropy=entropy(logits_NV),
        weight=weights_N,
        drift=old_N - behaviour_N,
    )
    if reference is not None:
        with torch.no_grad():
            reference_N = token_logprobs(
                reference.response_logits(batch) / temperature, batch.target_N
            )
        kl_N = kl_k3(logprobs_N=logprobs_N, reference_logprobs_N=reference_N)
        tally.add(kl=kl_N)
        loss_N = loss_N + config.kl_coefficient * kl_N
    return loss_N


def _metrics(tally: _Tally, rows: Sequence[Row]) -> dict[str, float]:
    weight_N, drift_N = tally.all("weight"), tally.all("drift")
    lengths = [len(row.response_ids) for row in rows]
    advantages = [row.advantage for row in rows]
    probs_diff_N = (1.0 - (-drift_N.abs()).exp()).abs()
    metrics = {
        "actor/pg_loss": tally.all("pg_loss").mean(),
        "actor/pg_clipfrac": tally.all("clipped").mean(),
        "actor/ppo_kl": -tally.all("log_ratio").mean(),
        "actor/entropy": tally.all("entropy").mean(),
        "rollout_corr/rollout_is_mean": weight_N.mean(),
        "rollout_corr/rollout_is_max": weight_N.max(),
        "rollout_corr/rollout_is_eff_sample_size": (
            weight_N.sum() ** 2 / (len(weight_N) * (weight_N**2).sum())
        ),
        "rollout_corr/kl": -drift_N.mean(),
        "rollout_corr/k3_kl": (drift_N.exp() - drift_N - 1).mean(),
        "training/rollout_probs_diff_mean": probs_diff_N.mean(),
        "training/rollout_probs_diff_max": probs_diff_N.max(),
    }
    if "kl" in tally.values:
        metrics["actor/kl_loss"] = tally.all("kl").mean()
    return {name: float(value) for name, value in metrics.items()} | {
        "response_length/mean": float(np.mean(lengths)),
        "response_length/max": float(max(lengths)),
        "response_length/min": float(min(lengths)),
        "critic/advantages/mean": float(np.mean(advantages)),
        "critic/advantages/max": float(max(advantages)),
        "critic/advantages/min": float(min(advantages)),
    }
