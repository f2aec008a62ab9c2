"""The resident trainer: a policy, its optimizer, and the step that it has reached."""

import time
from pathlib import Path
from typing import assert_never

import torch

from training.config import RlConfig, SftConfig
from training.engine import reinforced, supervised
from training.engine.checkpoints import (
    TrainerState,
    checkpoint_write,
    newest_valid,
)
from training.engine.model import TrainedPolicy
from training.engine.optimizer import PolicyOptimizer
from training.engine.protocol import (
    PROTOCOL_VERSION,
    CheckpointInfo,
    EngineSettings,
    Ready,
    Stepped,
    StepResult,
    TrainBatch,
    TrainRows,
)
from training.engine.rows import Row
from training.engine.sources import Demonstrations, rows_of_batch


class StepRefused(Exception):
    """The request does not fit the step that the trainer has reached."""


class Trainer:
    """Does one optimizer step after another; each is on disk before it is answered."""

    def __init__(self, config: RlConfig | SftConfig, settings: EngineSettings) -> None:
        torch.manual_seed(config.seed)
        torch.set_num_threads(settings.num_threads)
        self._config = config
        self._settings = settings
        self._checkpoints = Path(settings.checkpoints)
        self._checkpoints.mkdir(parents=True, exist_ok=True)
        found, skipped = newest_valid(self._checkpoints)
        folder = Path(found[0].path) if found else Path(settings.policy)
        self._policy = TrainedPolicy.load(folder)
        self._policy.model.train()
        self._optimizer = PolicyOptimizer(
            self._policy.model, config.optimizer, total_steps=config.max_optimizer_steps
        )
        self._step = self._version = 0
        self._last: StepResult | None = None
        if found:
            info, state = found
            self._optimizer.load_state_tensors(state.optimizer)
            self._step, self._version = state.step, state.version
            self._last = StepResult(
                step=info.step, metrics=state.metrics, checkpoint=info
            )
        self.ready = Ready(
            protocol_version=PROTOCOL_VERSION,
            step=self._step,
            version=self._version,
            resumed_from=found[0].path if found else None,
            skipped=skipped,
        )
        self._reference = self._load_reference()
        self._demonstrations = self._load_demonstrations()

    def handle(self, request: TrainBatch | TrainRows) -> Stepped:
        """Do what is asked.

        Raises:
            StepRefused: If it is not the next step, nor the one just done.
        """
        match request:
            case TrainBatch():
                return Stepped(results=[self._train_batch(request)])
            case TrainRows():
                return Stepped(results=self._train_rows(request))
            case _:
                assert_never(request)

    def _train_batch(self, request: TrainBatch) -> StepResult:
        config = self._config
        if not isinstance(config, RlConfig):
            raise StepRefused(f"a run of kind {config.kind} has no batches of rollouts")
        if self._last is not None and request.step == self._step:
            return self._last
        if request.step != self._step + 1:
            raise StepRefused(
                f"optimizer step {request.step} was asked for after step {self._step}"
            )
        began = time.monotonic()
        rows, refused = rows_of_batch(
            Path(request.batch),
            media_root=Path(self._settings.media_root),
            processor=self._policy.processor,
        )
        if not rows:
            raise StepRefused(f"no row of the batch can be trained on: {refused[:3]}")
        read_s = time.monotonic() - began
        metrics = reinforced.accumulate(
            self._policy,
            rows,
            config=config.grpo,
            reference=self._reference,
            temperature=config.rollout.temperature,
            micro_batch_rows=config.optimizer.micro_batch_rows,
        )
        metrics["training/rows_set_aside"] = float(len(refused))
        metrics["timing_s/read_batch"] = read_s
        return self._apply(metrics, rows, began, save=True)

    def _train_rows(self, request: TrainRows) -> list[StepResult]:
        config = self._config
        if not isinstance(config, SftConfig) or self._demonstrations is None:
            raise StepRefused(f"a run of kind {config.kind} has no demonstrations")
        results: list[StepResult] = []
        deadline = time.monotonic() + request.seconds
        target = min(request.until_step, config.max_optimizer_steps)
        while self._step < target:
            began = time.monotonic()
            rows = self._demonstrations.batch(self._step + 1, config.batch_rows)
            metrics = supervised.accumulate(
                self._policy, rows, micro_batch_rows=config.optimizer.micro_batch_rows
            )
            metrics["sft/epoch"] = (
                (self._step + 1) * config.batch_rows / len(self._demonstrations)
            )
            is_last = self._step + 1 == config.max_optimizer_steps
            is_due = (self._step + 1) % config.checkpoint_every == 0
            results.append(self._apply(metrics, rows, began, save=is_last or is_due))
            if time.monotonic() >= deadline:
                break
        return results

    def _apply(
        self, metrics: dict[str, float], rows: list[Row], began: float, *, save: bool
    ) -> StepResult:
        norm, rate = self._optimizer.step(self._step + 1)
        self._step += 1
        metrics["actor/grad_norm"] = norm
        metrics["actor/lr"] = rate
        updated = time.monotonic()
        metrics["timing_s/update_actor"] = updated - began
        num_tokens = sum(row.num_tokens for row in rows)
        metrics["perf/tokens_per_second"] = num_tokens / (updated - began)
        checkpoint = self._save(metrics) if save else None
        metrics["timing_s/save_checkpoint"] = time.monotonic() - updated
        metrics["timing_s/step"] = time.monotonic() - began
        self._last = StepResult(step=self._step, metrics=metrics, checkpoint=checkpoint)
        return self._last

    def _save(self, metrics: dict[str, float]) -> CheckpointInfo:
        self._version += 1
        state = TrainerState(
            step=self._step,
            version=self._version,
            optimizer=self._optimizer.state_tensors(),
            metrics=metrics,
        )
        return checkpoint_write(
            root=self._checkpoints,
            model=self._policy.model,
            policy=Path(self._settings.policy),
            state=state,
        )

    def _load_reference(self) -> TrainedPolicy | None:
        config = self._config
        if not isinstance(config, RlConfig) or config.grpo.kl_coefficient == 0:
            return None
        reference = TrainedPolicy.load(Path(self._settings.policy))
        reference.model.eval()
        return reference

    def _load_demonstrations(self) -> Demonstrations | None:
        if not isinstance(self._config, SftConfig):
            return None
        if self._settings.rows is None:
            raise StepRefused("a run of kind sft needs the rows of a data set")
        return Demonstrations(
            Path(self._settings.rows),
            media_root=Path(self._settings.media_root),
            processor=self._policy.processor,
            seed=self._config.seed,
        )
