"""Draws learning curves of quickstart runs: ``python -m benchmarks.quickstart_curve OUT IN…``.

Each input file ends with the JSON line of ``manage.py quickstart --wait --json``.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

WIDTH: Final = 760
HEIGHT: Final = 340
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 20, 48
COLOURS: Final = ("#2f56d9", "#a53c00", "#00574f", "#8a1a9b")
DASHES: Final = ("", "7,4", "2,3", "9,3,2,3")


def draw(reports: list[dict[str, Any]]) -> str:
    """Return an SVG: success of the sampled rollouts over seconds of training."""
    longest = max(report["curve"][-1][0] for report in reports)
    end_s = 60 * (int(longest) // 60 + 1)

    def x(seconds: float) -> float:
        return round(LEFT + seconds / end_s * (WIDTH - LEFT - RIGHT), 1)

    def y(share: float) -> float:
        return round(TOP + (1 - share) * (HEIGHT - TOP - BOTTOM), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#46505f">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for percent in range(0, 101, 25):
        level = y(percent / 100)
        parts.append(
            f'<path d="M{LEFT} {level}H{WIDTH - RIGHT}" stroke="#e2e6ec"/>'
            f'<text x="{LEFT - 8}" y="{level + 4}" text-anchor="end">{percent} %</text>'
        )
    parts += [
        f'<text x="{x(60 * minute)}" y="{HEIGHT - BOTTOM + 18}" '
        f'text-anchor="middle">{minute}</text>'
        for minute in range(end_s // 60 + 1)
    ]
    for number, report in enumerate(reports):
        line = " ".join(f"{x(s)},{y(share)}" for s, _, share in report["curve"])
        colour, dash = COLOURS[number % 4], DASHES[number % 4]
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" '
            f'stroke-width="2" stroke-dasharray="{dash}"/>'
            f'<path d="M{WIDTH - 170} {HEIGHT - 110 + 18 * number}h28" '
            f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            f'<text x="{WIDTH - 134}" y="{HEIGHT - 106 + 18 * number}">seed {number}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">'
        "minutes of training; success of the sampled rollouts of each batch</text></svg>"
    )
    return "\n".join(parts) + "\n"


def main() -> None:
    """Read reports, write the picture."""
    target, *sources = map(Path, sys.argv[1:])
    reports = [
        json.loads(source.read_text().strip().splitlines()[-1]) for source in sources
    ]
    target.write_text(draw(reports))


if __name__ == "__main__":
    main()
