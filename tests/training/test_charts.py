import json
import re
from pathlib import Path

import plotly
import pytest

from training.charts.catalogue import CHARTS
from training.charts.figures import (
    chart_of,
    charts_of,
    format_value,
    line_of,
    smooth,
    spark_points,
)
from training.charts.types import MetricPoint, Series
from training.metrics import METRICS

ROOT = Path(__file__).parents[2]
REWARD = Series(metric="reward/mean", name="all")


def point(step, value, source="rollouts", metric="reward/mean"):
    return MetricPoint(
        step=step,
        at=f"2026-12-01T10:00:{step:02}+00:00",
        source=source,
        values={metric: value},
    )


def test_every_series_is_a_metric_of_the_table():
    for specs in CHARTS.values():
        for spec in specs:
            for series in spec.series:
                assert series.metric in METRICS


def test_a_resumed_run_replaces_what_it_measures_again():
    points = [point(1, 0.1), point(2, 0.2), point(3, 0.3), point(2, 0.9)]

    line = line_of(points, REWARD)

    assert [(one.step, one.values["reward/mean"]) for one in line] == [
        (1, 0.1),
        (2, 0.9),
    ]


def test_a_late_evaluation_of_an_old_version_stands_at_its_step():
    points = [
        point(8, 0.8, source="evaluation"),
        point(0, 0.1, source="evaluation"),
        point(8, 0.9, source="evaluation"),
    ]

    line = line_of(points, REWARD)

    assert [(one.step, one.values["reward/mean"]) for one in line] == [
        (0, 0.1),
        (8, 0.9),
    ]


def test_smoothing_begins_at_the_first_value():
    assert smooth([1.0, 0.0, 0.0], weight=0.5) == [1.0, 0.5, 0.25]


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (None, "percent", "none yet"),
        (0.7125, "percent", "71.2 %"),
        (1234.4, "count", "1,234"),
        (0.0002, "number", "2.0e-4"),
        (0.5, "number", "0.500"),
        (12.34, "number", "12.3"),
        (123.4, "number", "123"),
        (0.0, "number", "0.000"),
    ],
)
def test_values_are_written_with_their_unit(value, form, expected):
    assert format_value(value, form) == expected


def test_a_chart_says_in_words_what_it_shows():
    points = [
        point(1, 0.33, metric="rollout/success_rate"),
        point(40, 0.71, metric="rollout/success_rate"),
    ]

    chart = chart_of(CHARTS["rl"][0], points)

    assert chart.last == "71.0 %"
    assert chart.sentence == (
        "Success rate goes from 33.0 % to 71.0 % over optimizer steps 1 to 40"
    )
    assert not chart.is_empty


def test_a_chart_without_points_is_empty_and_says_so():
    chart = chart_of(CHARTS["rl"][0], [])

    assert chart.is_empty
    assert chart.last == "none yet"
    assert chart.sentence == "Success rate: no point yet"


def test_only_one_trace_of_a_chart_moves_its_headline():
    for kind in CHARTS:
        for chart in charts_of(kind, []):
            headlines = [t for t in chart.description["traces"] if t["isHeadline"]]
            assert len(headlines) == 1


def test_every_colour_is_a_role_that_the_tokens_define():
    tokens = (ROOT / "static/studio/tokens.css").read_text()
    text = json.dumps([chart.description for chart in charts_of("rl", [])])

    roles = set(re.findall(r'"(--[a-z0-9-]+)"', text))

    assert "--chart-1" in roles
    assert "#" not in text
    for role in roles:
        assert f"  {role}:" in tokens


def test_a_spark_runs_from_edge_to_edge():
    assert spark_points([0.0, 1.0, 0.5]) == "0.0,22.0 60.0,2.0 120.0,12.0"
    assert spark_points([3.0, 3.0]) == "0.0,22.0 120.0,22.0"
    assert spark_points([1.0]) == ""


def test_plotly_finds_the_stylesheets_that_keep_it_from_writing_styles():
    # Under `style-src 'self'` its own attempts would be errors in the console.
    script = Path(plotly.__file__).parent / "package_data/plotly.min.js"
    template = (ROOT / "templates/training/_plotly.html").read_text()

    ids = re.findall(r'id="([^"]+)"', template)

    assert ids[0] == "plotly.js-style-global"
    assert f'getElementById("{ids[1]}")' in script.read_text()
