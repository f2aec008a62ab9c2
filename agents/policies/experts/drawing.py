"""Where experts set points and draw lines."""

from typing import Final

_SET_POINT: Final = r"""
// The page puts a point where the pointer is, counted from the bar's lower edge.
const BAR = 50;
const best = (score) => {
  let found = null;
  for (let x = 4; x < 148; x++) {
    for (let y = 4; y < 126; y++) {
      const value = score({x, y});
      if (value !== null && (!found || value > found.value)) found = {value, x, y};
    }
  }
  return found;
};
const put = ({x, y}) => {
  const there = one('#blue-circle');
  if (there && Number(there.getAttribute('cx')) === x
      && Number(there.getAttribute('cy')) === y) return submit();
  return {kind: 'click', x: x + 0.5, y: y + BAR + 0.5,
    box: [x - 3, y + BAR - 3, x + 4, y + BAR + 4]};
};
const near = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
const corner = (e) => ({x: Number(e.getAttribute('cx')), y: Number(e.getAttribute('cy'))});
"""


def _point(choice: str) -> str:
    return f"(() => {{ {_SET_POINT} {choice} }})()"


EXPERTS: Final[dict[str, str]] = {
    "bisect-angle": _point(r"""
        const vertex = corner(one('.init-blue'));
        const [a, b] = all('.init-black').map(corner);
        return put(best((p) => {
          const away = near(p, vertex);
          if (away < 25 || away > 60) return null;
          const [angleA, angleB] = [findAngle(a, p, vertex), findAngle(b, p, vertex)];
          return -Math.max(angleA, angleB);
        }));"""),
    "circle-center": _point("return put(corner(one('.black-circle')));"),
    "draw-line": r"""(() => {
        const dot = centre(one('#circ'));
        const path = one('svg path');
        const isAcross = /horizontal/.test(q);
        if (path && path.getAttribute('d')) return click(one('#controls button'));
        const frame = boxOf(one('svg'));
        // As far on either side as the nearer edge of the frame allows.
        const at = isAcross ? 0 : 1;
        const far = Math.min(dot[at] - frame[at], frame[at + 2] - dot[at], 40) - 3;
        const end = (sign) => (isAcross ? [dot[0] + sign * far, dot[1]]
          : [dot[0], dot[1] + sign * far]);
        return drag(one('#circ'), end(-1), end(1));
    })()""",
    "find-midpoint": _point(r"""
        const [a, b] = all('.black-circle').map(corner);
        return put({x: Math.round((a.x + b.x) / 2), y: Math.round((a.y + b.y) / 2)});"""),
    "right-angle": _point(r"""
        const [a, vertex] = [corner(one('#init-black')), corner(one('#init-blue'))];
        return put(best((p) => {
          const away = near(p, vertex);
          if (away < 25 || away > 60) return null;
          return -Math.abs(90 - findAngle(a, p, vertex));
        }));"""),
}
