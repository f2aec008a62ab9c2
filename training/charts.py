"""The figures of a run's page, described for plotly.js. Pure: no Django, no drawing.

Figures name colours by role (``--chart-1``); the page looks them up in ``tokens.css``
and so follows the theme. Titles, last values and legends are HTML around the figure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from training.metrics import METRICS

Format = Literal["percent", "number", "count"]

SANS: Final = (
    '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, Ubuntu, Cantarell, '
    '"Noto Sans", "Liberation Sans", sans-serif'
)

AXIS: Final[dict[str, Any]] = {
    "automargin": True,
    "color": "--chart-text",
    "gridcolor": "--chart-grid",
    "gridwidth": 1,
    "linecolor": "--chart-axis",
    "linewidth": 1,
    "ticks": "",
    "tickfont": {"size": 11, "color": "--chart-text"},
    "title": {"font": {"size": 11, "color": "--chart-text"}, "standoff": 8},
    "zeroline": False,
}

LAYOUT: Final[dict[str, Any]] = {
    "autosize": True,
    "colorway": [f"--chart-{n}" for n in range(1, 9)],
    "font": {"family": SANS, "size": 12, "color": "--chart-text"},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "margin": {"l": 44, "r": 12, "t": 8, "b": 36, "pad": 0},
    "showlegend": False,
    "hovermode": "x unified",
    "hoverdistance": 24,
    "hoverlabel": {
        "bgcolor": "--surface",
        "bordercolor": "--border-strong",
        "font": {"family": SANS, "size": 12, "color": "--text"},
        "align": "left",
        "namelength": 28,
    },
    "dragmode": "zoom",
    "bargap": 0.16,
    "transition": {"duration": 0},
    "separators": ".,",
    "xaxis": AXIS
    | {
        "showgrid": False,
        "showline": True,
        "nticks": 6,
        "showspikes": True,
        "spikemode": "across",
        "spikethickness": 1,
        "spikedash": "solid",
        "spikecolor": "--border-strong",
        "unifiedhovertitle": {"text": "optimizer step %{x}"},
    },
    "yaxis": AXIS
    | {"showgrid": True, "showline": False, "nticks": 5, "rangemode": "tozero"}
    # Dragging zooms into steps; the height always fits what is there.
    | {"fixedrange": True},
}

DASHES: Final = ("solid", "7px,4px", "2px,3px", "9px,3px,2px,3px")
MARKERS: Final = ("circle", "square", "triangle-up", "diamond")
EVALUATION: Final = "evaluation"
"""Source of the rows that stand at the step of the version that they measure."""
SMOOTHING: Final = 0.7
"""Weight of the past in a smoothed line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricPoint:
    """What was measured at one moment."""

    step: int
    """Optimizer steps done."""
    at: str
    """ISO time."""
    source: str
    values: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """One line of a chart."""

    metric: str
    name: str
    """In the legend."""
    is_smoothed: bool = False
    """Drawn smoothed, with the raw line faint below it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartSpec:
    """A chart before it has data."""

    key: str
    title: str
    format: Format
    series: tuple[Series, ...]
    """The first is the headline: its last value stands beside the title."""
    is_large: bool = False
    allows_negative: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """A chart with its data and the words around it."""

    spec: ChartSpec
    last: str
    """The headline's last value, formatted; ``none yet`` without one."""
    sentence: str
    """For those who do not see the picture."""
    definition: str
    """What the headline's metric means."""
    is_empty: bool
    description: dict[str, Any]
    """JSON for ``charts.js``: title, format, layout, traces."""


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


def format_value(value: float | None, form: Format) -> str:
    """Return a value as the page writes it; ``charts.js`` has the same rule."""
    if value is None:
        return "none yet"
    if form == "percent":
        return f"{value * 100:.1f} %"
    if form == "count":
        return f"{value:,.0f}"
    if value != 0 and abs(value) < 0.001:
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e+")
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def smooth(values: Iterable[float], weight: float = SMOOTHING) -> list[float]:
    """Return the exponential moving average that begins at the first value."""
    smoothed: list[float] = []
    for value in values:
        before = smoothed[-1] if smoothed else value
        smoothed.append(weight * before + (1 - weight) * value)
    return smoothed


def line_of(points: Iterable[MetricPoint], series: Series) -> list[MetricPoint]:
    """Return the points that have the series' metric, one per optimizer step.

    A resumed run measures steps again: the later measurement counts, and what an
    earlier attempt measured beyond it is gone. Evaluations of older versions may end
    later than those of newer ones; each stands at its step.
    """
    line: list[MetricPoint] = []
    for point in points:
        if point.values.get(series.metric) is None:
            continue
        if point.source == EVALUATION:
            line = [one for one in line if one.step != point.step]
        else:
            while line and line[-1].step >= point.step:
                line.pop()
        line.append(point)
    return sorted(line, key=lambda one: one.step)


def chart_of(spec: ChartSpec, points: Sequence[MetricPoint]) -> Chart:
    """Return the chart over what was measured so far.

    Args:
        spec: Which lines it has.
        points: In the order in which they were measured.
    """
    lines = [line_of(points, series) for series in spec.series]
    headline = [point.values[spec.series[0].metric] for point in lines[0]]
    last = format_value(headline[-1] if headline else None, spec.format)
    traces = [
        trace
        for number, (series, line) in enumerate(zip(spec.series, lines, strict=True))
        for trace in _traces(spec, series, line, number)
    ]
    return Chart(
        spec=spec,
        last=last,
        sentence=_sentence(spec, lines[0]),
        definition=METRICS[spec.series[0].metric].sentence,
        is_empty=not any(lines),
        description={
            "title": spec.title,
            "format": spec.format,
            "layout": _layout(spec),
            "traces": traces,
        },
    )


def charts_of(kind: str, points: Sequence[MetricPoint]) -> list[Chart]:
    """Return the charts of a run of a kind, in the order of the page."""
    return [chart_of(spec, points) for spec in CHARTS[kind]]


def spark_points(values: Sequence[float], width: int = 120, height: int = 24) -> str:
    """Return the ``points`` of an SVG polyline; empty with fewer than two values."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return " ".join(
        f"{index * width / (len(values) - 1):.1f},"
        f"{height - 2 - (value - low) / span * (height - 4):.1f}"
        for index, value in enumerate(values)
    )


def _sentence(spec: ChartSpec, line: Sequence[MetricPoint]) -> str:
    if not line:
        return f"{spec.title}: no point yet"
    metric = spec.series[0].metric
    first = format_value(line[0].values[metric], spec.format)
    last = format_value(line[-1].values[metric], spec.format)
    return (
        f"{spec.title} goes from {first} to {last} over optimizer steps "
        f"{line[0].step} to {line[-1].step}"
    )


def _layout(spec: ChartSpec) -> dict[str, Any]:
    xaxis = LAYOUT["xaxis"] | {
        "title": AXIS["title"] | {"text": "Optimizer step" if spec.is_large else ""}
    }
    yaxis = dict(LAYOUT["yaxis"])
    if spec.format == "percent":
        # A share of a whole is never cut: the eye shall judge it against 100 %.
        yaxis |= {"tickformat": ".0%", "range": [0, 1.02], "tickvals": _QUARTERS}
    if spec.allows_negative:
        yaxis |= {"rangemode": "normal", "zeroline": True, "zerolinewidth": 1}
        yaxis |= {"zerolinecolor": "--chart-axis"}
    bottom = 36 if spec.is_large else 24
    margin = LAYOUT["margin"] | {"b": bottom}
    return LAYOUT | {"xaxis": xaxis, "yaxis": yaxis, "margin": margin}


_QUARTERS: Final = [0, 0.25, 0.5, 0.75, 1]


def _traces(
    spec: ChartSpec, series: Series, line: Sequence[MetricPoint], number: int
) -> list[dict[str, Any]]:
    values = [point.values[series.metric] for point in line]
    shared = {
        "series": series.name,
        "metric": series.metric,
        "steps": [point.step for point in line],
        "times": [point.at for point in line],
    }
    main = shared | {
        "values": smooth(values) if series.is_smoothed else values,
        "smoothing": SMOOTHING if series.is_smoothed else 0,
        "isMarked": True,
        "isHeadline": number == 0 and not series.is_smoothed,
        "look": _look(spec, series, number),
    }
    if not series.is_smoothed:
        return [main]
    raw = shared | {
        "values": values,
        "smoothing": 0,
        "isMarked": False,
        "isHeadline": number == 0,
        "look": _raw_look(number),
    }
    return [raw, main]


def _look(spec: ChartSpec, series: Series, number: int) -> dict[str, Any]:
    tick = {"percent": ".1%", "count": ",.0f", "number": ".3~g"}[spec.format]
    return {
        "type": "scatter",
        "name": series.name,
        "line": {
            "color": f"--chart-{number + 1}",
            "width": 1.75,
            "dash": DASHES[number],
            "shape": "linear",
        },
        "marker": {"symbol": MARKERS[number], "size": 6},
        # No <b>: plotly would write it as a style attribute, which the policy refuses.
        "hovertemplate": f"%{{y:{tick}}}  {series.name}<extra></extra>",
    }


def _raw_look(number: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": "",
        "line": {"color": f"--chart-{number + 1}", "width": 1, "shape": "linear"},
        "opacity": 0.35,
        "hoverinfo": "skip",
    }
