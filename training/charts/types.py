"""What a chart is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Format = Literal["percent", "number", "count"]


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
