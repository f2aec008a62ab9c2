"""How every chart looks: axes, dashes, markers; colours are names of roles."""

from typing import Any, Final

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
