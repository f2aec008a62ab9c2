"""What experts click where one click, or a few, are all there is to it."""

from typing import Final

SHAPES: Final = r"""
const shapeOf = (e) => {
  const words = text(e);
  const isWord = e.tagName === 'text';
  const size = isWord ? parseFloat(e.getAttribute('font-size')) : e.getBBox().width;
  const name = {rect: 'rectangle', circle: 'circle', polygon: 'triangle'}[e.tagName] || words;
  const kind = !isWord ? 'shape' : /\d/.test(words) ? 'digit' : 'letter';
  return {size: size > 15 ? 'large' : 'small', colour: e.getAttribute('fill'), kind, name};
};
const matching = (description) => {
  const words = description.split(' ');
  const name = words.pop();
  return all('#area_svg > *').filter((e) => {
    const shape = shapeOf(e);
    return ['item', shape.kind, shape.name].includes(name)
      && words.every((word) => [shape.size, shape.colour].includes(word));
  });
};
"""
"""Finds the shapes that a description such as ``small green item`` means."""

EXPERTS: Final[dict[str, str]] = {
    "ascending-numbers": (
        "click(byText('#area_svg text', '1') || one('#area_svg rect'))"
    ),
    "click-button": "click(byText('#area button', quoted(0)))",
    "click-button-sequence": (
        "click(one(buttonsPushed.length === 0 ? '#subbtn' : '#subbtn2'))"
    ),
    "click-color": (
        "click(one('#area [data-color=' + /the (\\w+) colored/.exec(q)[1] + ']'))"
    ),
    "click-dialog": "click(one('.ui-dialog-titlebar button'))",
    "click-dialog-2": (
        "click(quoted(0) === 'x' ? one('.ui-dialog-titlebar button')"
        " : byText('.ui-dialog-buttonset button', quoted(0)))"
    ),
    "click-link": "click(byText('.alink', quoted(0)))",
    "click-shape": (
        f"(() => {{ {SHAPES} return click(matching(/Click on a (.*)$/.exec(q)[1])[0]); }})()"
    ),
    "click-tab": "click(one('a[href=\"#tabs-' + /#(\\d)/.exec(q)[1] + '\"]'))",
    "click-test": "submit()",
    "click-test-2": "submit()",
    "click-test-transfer": "click(byText('#area button', /button (\\w+)/.exec(q)[1]))",
    "click-widget": "click(one('#area [data-type=' + quoted(0) + ']'))",
    "focus-text": "click(one('#tt'))",
    "focus-text-2": "click(all('#area input')[ordinal()])",
    "grid-coordinate": "click(document.getElementById(/\\(.*\\)/.exec(q)[0]))",
    "unicode-test": "click(byText('#area button', quoted(0)))",
}
