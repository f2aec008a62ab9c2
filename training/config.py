"""A run's configuration, as the user writes it and as every process reads it.

Formulas and sources of the defaults stand in ``docs/concepts/learning.md``.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values do not change."""

    # JSON, as which it is kept and answered, has no infinity.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OptimizerConfig(Section):
    """How gradients become weights."""

    learning_rate: float = Field(1e-6, gt=0, le=1)
    """AdamW's peak learning rate."""
    matrix_learning_rate: float = Field(0.0, ge=0, le=1)
    """Muon's peak learning rate for matrices of hidden layers; 0 trains them by
    AdamW like the rest."""
    weight_decay: float = Field(0.1, ge=0)
    betas: tuple[float, float] = (0.9, 0.99)
    grad_clip: float = Field(2.0, gt=0)
    """Largest gradient norm."""
    warmup_steps: int = Field(0, ge=0)
    """Optimizer steps of linear warm-up."""
    decay: Literal["constant", "linear"] = "constant"
    """After the warm-up; ``linear`` falls to ``final_rate_fraction``."""
    final_rate_fraction: float = Field(0.1, ge=0, le=1)
    micro_batch_rows: int = Field(64, ge=1)
    """Rows in one forward pass; gradients add up over a batch."""


class RolloutConfig(Section):
    """How episodes are sampled."""

    temperature: float = Field(1.0, gt=0, le=5)
    top_p: float = Field(1.0, gt=0, le=1)
    max_response_tokens: int = Field(500, ge=1, le=32_768)
    max_steps: int = Field(30, ge=1, le=1000)
    """Never above the task's own limit."""
    max_parse_errors: int = Field(3, ge=1)
    """Unreadable answers in a row that end an episode."""


class AsyncConfig(Section):
    """How far the rollouts may run ahead of the trainer."""

    max_staleness: int = Field(2, ge=0)
    """Trainer version minus the oldest version that sampled a token; at dispatch
    and when the batch is taken."""


class GrpoConfig(Section):
    """Group-relative policy optimisation."""

    group_size: int = Field(8, ge=2, le=256)
    """Rollouts of one task and seed that are compared (N)."""
    groups_per_step: int = Field(8, ge=1, le=4096)
    """Groups that one optimizer step learns from."""
    normalize_std: bool = True
    """Divide by the group's standard deviation."""
    clip_low: float = Field(0.2, gt=0, lt=1)
    clip_high: float = Field(0.28, gt=0)
    dual_clip: float = Field(10.0, gt=1)
    kl_coefficient: float = Field(0.1, ge=0)
    """Weight of the k3 distance to the first policy; 0 loads no reference."""
    importance_cap: float = Field(1.0, gt=0)
    """C of truncated importance sampling."""

    @model_validator(mode="after")
    def _clip_high_is_not_below_clip_low(self) -> Self:
        if self.clip_high < self.clip_low:
            raise ValueError(
                f"clip_high ({self.clip_high}) must not be below "
                f"clip_low ({self.clip_low})"
            )
        return self


class CommonConfig(Section):
    """What every kind of run has."""

    preset: str = ""
    """Name of the preset that filled in the defaults, for people."""
    policy: str = Field("oche-tiny", min_length=1, max_length=200)
    """What the run starts from: the name of a registered policy, or
    ``<run id>@<version>`` of an earlier run."""
    seed: int = Field(0, ge=0, le=2**31 - 1)
    max_optimizer_steps: int = Field(100, ge=1, le=2**31 - 1)
    optimizer: OptimizerConfig = OptimizerConfig()
    checkpoint_every: int = Field(1, ge=1)
    """Optimizer steps between two checkpoints (in ``rl``: published versions)."""


class SftConfig(CommonConfig):
    """Supervised learning from demonstrations."""

    kind: Literal["sft"]
    dataset: str = Field(min_length=1)
    """Id of a data set that is ready."""
    batch_rows: int = Field(32, ge=1)
    """Rows that one optimizer step learns from."""


class RlConfig(CommonConfig):
    """Online learning from the reward of whole episodes."""

    kind: Literal["rl"]
    tasks: tuple[str, ...] = Field(min_length=1)
    """``<backend>/<name>`` of each task; groups take them in turn."""
    grpo: GrpoConfig = GrpoConfig()
    rollout: RolloutConfig = RolloutConfig()
    asynchrony: AsyncConfig = AsyncConfig()
    first_seed: int = Field(1_000_000, ge=0, le=2**31 - 1)
    """Group k takes seed ``first_seed + k``; evaluations use seeds elsewhere."""
    stop_at_success: float = Field(0.0, ge=0, le=1)
    """End, successfully, once this share of the last ``success_window`` finished
    trajectories was solved; 0 trains to the last optimizer step."""
    success_window: int = Field(128, ge=8)


RunConfig = Annotated[SftConfig | RlConfig, Field(discriminator="kind")]
