"""What experts drag, and where to."""

from typing import Final

_SORTED: Final = r"""
const items = all('#sortable li');
const place = (from, to) => {
  const [x, y] = centre(items[from]);
  const [toX, toY] = centre(items[to]);
  // A little beyond the middle, on the far side of whoever stands there now.
  const beyond = 3 * Math.sign(to - from);
  return drag(items[from], [x, y], [toX + beyond, toY + beyond]);
};
"""
# A grid puts what is dragged behind the item beneath the pointer if the pointer moves
# right or down, else before it: who has to go up and to the right aims one item short.
# Only the half of the item that lies ahead counts; for the first item only up and down.
_GRID: Final = r"""
const placeInGrid = (from, to) => {
  const [column, row] = [to % 3 - from % 3, Math.floor(to / 3) - Math.floor(from / 3)];
  const isForward = to > from;
  const isShort = !isForward && column > 0;
  const lean = isShort ? 12 : 6 * Math.sign(column || to - from);
  const [x, y] = centre(items[from]);
  const [toX, toY] = centre(items[isShort ? to - 1 : to]);
  return drag(items[from], [x - lean, isForward ? y - 8 : y],
    [toX + lean, isForward || row ? toY + 8 : toY]);
};
"""
_PUSH: Final = r"""(() => {
  const way = {left: [-25, 0], right: [25, 0], up: [0, -25], down: [0, 25]}[
    / (left|right|up|down) then /.exec(q)[1]];
  const shape = one('.black-circle, .black-shape');
  const [now, before] = [shapes.gridCoords(shape), shape.getBBox()];
  const gone = [now.x - before.x, now.y - before.y];
  if (way[0] * gone[0] + way[1] * gone[1] > 0) return submit();
  const [x, y] = centre(shape);
  return drag(shape, [x, y], [x + way[0], y + way[1]]);
})()"""
_BOXES: Final = r"""
const KINDS = {rectangles: 'rect', circles: 'circle', triangles: 'polygon'};
const loose = all('#area_svg rect:not(#shape-container), #area_svg circle, #area_svg polygon');
const isWithin = (shape, box) => {
  const {x, y} = shapes.gridCoords(shape);
  const inner = box.getBBox();
  return x > inner.x && x < inner.x + inner.width - 8 && y > inner.y && y < inner.y + inner.height - 8;
};
const put = (shape, box) => drag(shape, centre(shape), centre(box));
"""

EXPERTS: Final[dict[str, str]] = {
    "drag-box": r"""(() => {
        if (smallBoxContained()) return submit();
        const [small, large] = [one('#draggableSmall'), one('#draggableLarge')];
        return drag(small, centre(small), centre(large));
    })()""",
    "drag-circle": _PUSH,
    # It turns by about 1.3 degrees a pixel, and on by itself for a while; a pointer that
    # has to come from elsewhere would pull it as well.
    "drag-cube": r"""(() => {
        const {viewport} = cube;
        const face = one('.viewport');
        const wanted = quoted(0);
        if (Math.abs(viewport.torqueX) > 1 || Math.abs(viewport.torqueY) > 1) return wait(0.3);
        if (text(one('.active')) === wanted) return submit();
        const {positionX: across, positionY: over} = viewport;
        const isTurned = over > 90 && over < 270;
        const turn = (from, to) => ((to - from) % 360 + 540) % 360 - 180;
        const [goalX, goalY] = {
          1: [across, 264], 6: [across, 88],
          2: isTurned ? [177, 175] : [0, 357], 3: isTurned ? [86, 175] : [269, 357],
          4: isTurned ? [0, 175] : [177, 357], 5: isTurned ? [269, 175] : [86, 357],
        }[wanted];
        const isLevel = Math.abs(turn(over, goalY)) < 40;
        const degrees = isLevel ? turn(across, goalX) * (isTurned ? -1 : 1) : -turn(over, goalY);
        const half = Math.max(-45, Math.min(45, degrees / 1.3)) / 2;
        const [x, y] = centre(one('.cube')).map(Math.round);
        const [from, to] = isLevel ? [[x - half, y], [x + half, y]]
          : [[x, y - half], [x, y + half]];
        if (String(notes.at) !== String(from)) {
          notes.at = from;
          return {kind: 'move', x: middle(from[0]), y: middle(from[1]), box: boxOf(face)};
        }
        notes.at = to;
        return drag(face, from, to);
    })()""",
    "drag-items": rf"""(() => {{ {_SORTED}
        const [, name, where] = /^Drag (\S+) (.*)$/.exec(q);
        const from = items.findIndex((e) => text(e) === name);
        const nth = /to the (\d)/.exec(where);
        if (nth) return place(from, Number(nth[1]) - 1);
        if (/top/.test(where)) return place(from, 0);
        if (/bottom/.test(where)) return place(from, items.length - 1);
        return place(from, from + (/down/.test(where) ? 1 : -1));
    }})()""",
    "drag-items-grid": rf"""(() => {{ {_SORTED} {_GRID}
        const [, name, where] = /^Drag (\S+) (.*)\.$/.exec(q);
        const from = items.findIndex((e) => text(e) === name);
        const by = {{'up by one': -3, 'down by one': 3, 'left by one': -1, 'right by one': 1}}[where];
        if (by) return placeInGrid(from, from + by);
        const row = /top/.test(where) ? 0 : /bottom/.test(where) ? 2 : 1;
        const column = /left/.test(where) ? 0 : /right/.test(where) ? 2 : 1;
        return placeInGrid(from, row * 3 + column);
    }})()""",
    "drag-shapes": rf"""(() => {{ {_BOXES}
        const kind = KINDS[/Drag all (\w+) into/.exec(q)[1]];
        const box = one('#shape-container');
        const shape = loose.find((e) => e.tagName === kind && !isWithin(e, box));
        return shape ? put(shape, box) : submit();
    }})()""",
    "drag-shapes-2": rf"""(() => {{ {_BOXES}
        const words = /Drag all (\w+)( shapes)? into the left/.exec(q);
        const [left, right] = all('#shape-container');
        const home = (e) => ((words[2] ? e.getAttribute('fill') === words[1]
          : e.tagName === KINDS[words[1]]) ? left : right);
        const shape = loose.find((e) => !isWithin(e, home(e)));
        return shape ? put(shape, home(shape)) : submit();
    }})()""",
    "drag-single-shape": _PUSH,
    "drag-sort-numbers": rf"""(() => {{ {_SORTED}
        const numbers = items.map((e) => Number(text(e)));
        const sorted = [...numbers].sort((a, b) => a - b);
        const wrong = numbers.findIndex((n, i) => n !== sorted[i]);
        if (wrong < 0) return submit();
        return place(numbers.indexOf(sorted[wrong], wrong), wrong);
    }})()""",
    "resize-textarea": r"""(() => {
        const [, side, way] = /the (width|height) is (smaller|larger)/.exec(q);
        const area = $('#tt');
        notes.size = notes.size || {width: area.width(), height: area.height()};
        const grown = (side === 'width' ? area.width() : area.height()) - notes.size[side];
        if (way === 'larger' ? grown > 0 : grown < 0) return click(one('#submit'));
        const by = way === 'larger' ? 14 : -14;
        const handle = one('.ui-resizable-se');
        const [x, y] = centre(handle);
        return drag(handle, [x, y], side === 'width' ? [x + by, y] : [x, y + by]);
    })()""",
}
