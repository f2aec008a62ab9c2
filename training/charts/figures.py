"""From measurements to figures for plotly.js; nothing is drawn here."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from training.charts.catalogue import CHARTS
from training.charts.theme import AXIS, DASHES, LAYOUT, MARKERS
from training.charts.types import Chart, ChartSpec, Format, MetricPoint, Series
from training.metrics import METRICS

EVALUATION: Final = "evaluation"
"""Source of the rows that stand at the step of the version that they measure."""
SMOOTHING: Final = 0.7
"""Weight of the past in a smoothed line."""


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
