"""Which charts a run's page shows, by the kind of run."""

from typing import Final

from training.charts.types import ChartSpec, Series

RL_CHARTS: Final = (
    ChartSpec(
        key="success",
        title="Success rate",
        format="percent",
        is_large=True,
        series=(
            Series(
                metric="rollout/success_rate",
                name="trained tasks, all episodes",
                is_smoothed=True,
            ),
            Series(
                metric="evaluation/success_rate",
                name="held-out seeds",
            ),
        ),
    ),
    ChartSpec(
        key="reward",
        title="Reward, mean",
        format="number",
        series=(
            Series(
                metric="reward/mean",
                name="all episodes",
                is_smoothed=True,
            ),
        ),
    ),
    ChartSpec(
        key="loss",
        title="Policy loss",
        format="number",
        allows_negative=True,
        series=(
            Series(
                metric="actor/pg_loss",
                name="clipped surrogate",
                is_smoothed=True,
            ),
        ),
    ),
    ChartSpec(
        key="staleness",
        title="Staleness, versions",
        format="number",
        series=(
            Series(metric="async/staleness_mean", name="mean"),
            Series(metric="async/staleness_max", name="largest"),
        ),
    ),
    ChartSpec(
        key="actions",
        title="Actions per minute",
        format="count",
        series=(
            Series(metric="perf/actions_per_minute", name="trained"),
            Series(metric="env/actions_per_minute", name="acted"),
        ),
    ),
    ChartSpec(
        key="entropy",
        title="Entropy, nats",
        format="number",
        series=(Series(metric="actor/entropy", name="policy"),),
    ),
    ChartSpec(
        key="kl",
        title="KL, nats",
        format="number",
        allows_negative=True,
        series=(
            Series(metric="rollout_corr/kl", name="to the sampler"),
            Series(metric="actor/kl_loss", name="to the first policy"),
        ),
    ),
    ChartSpec(
        key="environment-use",
        title="Environment: slots in use",
        format="percent",
        series=(
            Series(metric="env/utilization", name="busy"),
            Series(metric="env/occupied", name="inside an episode"),
        ),
    ),
    ChartSpec(
        key="environment-speed",
        title="Environment: step, seconds",
        format="number",
        series=(
            Series(metric="env/step_seconds_p95", name="95 of 100 actions"),
            Series(metric="env/step_seconds_p50", name="median"),
            Series(metric="env/reset_seconds_p50", name="reset, median"),
        ),
    ),
    ChartSpec(
        key="environment-restarts",
        title="Environment: slots rebuilt",
        format="count",
        series=(
            Series(metric="env/restarts", name="after a fault"),
            Series(metric="env/orphans", name="orphans ended"),
        ),
    ),
)

SFT_CHARTS: Final = (
    ChartSpec(
        key="loss",
        title="Loss, nats",
        format="number",
        is_large=True,
        series=(
            Series(
                metric="sft/loss",
                name="cross-entropy per token",
                is_smoothed=True,
            ),
        ),
    ),
    ChartSpec(
        key="accuracy",
        title="Token accuracy",
        format="percent",
        series=(
            Series(
                metric="sft/token_accuracy",
                name="chosen greedily",
                is_smoothed=True,
            ),
        ),
    ),
    ChartSpec(
        key="success",
        title="Held-out success",
        format="percent",
        series=(Series(metric="evaluation/success_rate", name="held-out"),),
    ),
    ChartSpec(
        key="grad",
        title="Gradient norm",
        format="number",
        series=(Series(metric="actor/grad_norm", name="before clipping"),),
    ),
    ChartSpec(
        key="lr",
        title="Learning rate",
        format="number",
        series=(Series(metric="actor/lr", name="AdamW"),),
    ),
)

CHARTS: Final[dict[str, tuple[ChartSpec, ...]]] = {"rl": RL_CHARTS, "sft": SFT_CHARTS}
"""By the run's kind."""
