"""How gradients become weights: AdamW, or Muon for matrices beside it."""

from typing import Any

import torch
from torch import nn

from training.config import OptimizerConfig


class PolicyOptimizer:
    """One or two optimizers with a common schedule.

    Muon (https://kellerjordan.github.io/posts/muon/) trains the hidden matrices of a
    small policy from nothing about twice as fast as AdamW; embeddings, norms, biases
    and convolutions stay with AdamW, as its author advises.
    """

    def __init__(
        self, model: nn.Module, config: OptimizerConfig, *, total_steps: int
    ) -> None:
        self._config = config
        self._total_steps = total_steps
        self._names = {id(p): name for name, p in model.named_parameters()}
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        matrices = self._matrices(model) if config.matrix_learning_rate > 0 else []
        taken = {id(p) for p in matrices}
        others = [p for p in self.parameters if id(p) not in taken]
        self._optimizers: list[tuple[torch.optim.Optimizer, float]] = [
            (
                torch.optim.AdamW(
                    self._decay_groups(others),
                    lr=config.learning_rate,
                    betas=config.betas,
                ),
                config.learning_rate,
            )
        ]
        if matrices:
            rate = config.matrix_learning_rate
            muon = torch.optim.Muon(
                matrices,
                lr=rate,
                weight_decay=config.weight_decay,
                adjust_lr_fn="match_rms_adamw",
            )
            self._optimizers.append((muon, rate))

    def rate_at(self, step: int) -> float:
        """Return the share of the peak rate at an optimizer step, counted from 1."""
        config = self._config
        warm = min(1.0, step / config.warmup_steps) if config.warmup_steps else 1.0
        if config.decay == "constant":
            return warm
        span = max(1, self._total_steps - config.warmup_steps)
        done = min(1.0, max(0, step - config.warmup_steps) / span)
        return warm * (1.0 - done * (1.0 - config.final_rate_fraction))

    def step(self, step: int) -> tuple[float, float]:
        """Apply the gradients; returns (gradient norm before clipping, learning rate).

        Raises:
            FloatingPointError: If the gradient is not finite; no weight has changed.
        """
        norm = float(
            torch.nn.utils.clip_grad_norm_(self.parameters, self._config.grad_clip)
        )
        if norm != norm or norm == float("inf"):
            self.zero_grad()
            raise FloatingPointError(f"the gradient norm is {norm}")
        share = self.rate_at(step)
        for optimizer, peak in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = peak * share
            optimizer.step()
        self.zero_grad()
        return norm, self._config.learning_rate * share

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for optimizer, _ in self._optimizers:
            optimizer.zero_grad(set_to_none=True)

    def state_tensors(self) -> dict[str, torch.Tensor]:
        """Return all state by ``<parameter>/<name>``, fit for a safetensors file."""
        return {
            f"{self._names[id(parameter)]}/{key}": torch.as_tensor(value)
            for optimizer, _ in self._optimizers
            for parameter, state in optimizer.state.items()
            for key, value in state.items()
            if value is not None
        }

    def load_state_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Take up what ``state_tensors`` gave."""
        by_name: dict[str, dict[str, Any]] = {}
        for full, value in tensors.items():
            name, _, key = full.rpartition("/")
            by_name.setdefault(name, {})[key] = value
        for optimizer, _ in self._optimizers:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    state = by_name.get(self._names[id(parameter)])
                    if state is not None:
                        optimizer.state[parameter] = state

    def _matrices(self, model: nn.Module) -> list[nn.Parameter]:
        embeddings = {
            id(p)
            for module in model.modules()
            if isinstance(module, nn.Embedding)
            for p in module.parameters()
        }
        return [p for p in self.parameters if p.ndim == 2 and id(p) not in embeddings]

    def _decay_groups(self, parameters: list[nn.Parameter]) -> list[dict[str, Any]]:
        """Decay what multiplies; norms and biases are left where they are."""
        decay = self._config.weight_decay
        return [
            {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": decay},
            {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
        ]
