"""How experts choose: boxes to tick, lists, dates, sliders, colours."""

from typing import Final

_TICK: Final = r"""(() => {
  const names = /^Select (?:words similar to )?(.*) and click Submit/.exec(q)[1].split(', ');
  const isWanted = (word) => names.includes(word);
  const label = all('#area label').find(
    (e) => e.querySelector('input').checked !== isWanted(text(e)));
  return label ? click(label.querySelector('input')) : submit();
})()"""
_DATE: Final = "pickDate(one('#datepicker'), /Select (\\S+) as/.exec(q)[1]) || submit()"
_COLOUR: Final = r"""(() => {
  const wanted = %s.replace('#', '').toUpperCase();
  const field = one('#col');
  const filling = fill(field, wanted);
  if (filling) return filling;
  // The open colour wheel covers the button; a click beside it closes it.
  const move = submit();
  return hits(one('#subbtn'), move.x, move.y) ? move : clickAt(150, 200, one('#wrap'));
})()"""
_SWATCH: Final = (
    "('#' + getComputedStyle(one('.cc')).backgroundColor.match(/\\d+/g)"
    ".map((n) => Number(n).toString(16).padStart(2, '0')).join(''))"
)

EXPERTS: Final[dict[str, str]] = {
    "choose-date": _DATE,
    "choose-date-easy": _DATE,
    "choose-date-medium": _DATE,
    "choose-date-nodelay": _DATE,
    "choose-list": (
        "choose(one('#options'), /^Select (.*) from the list/.exec(q)[1])"
        " || click(byText('#area button', 'Submit'))"
    ),
    "click-checkboxes": _TICK,
    "click-checkboxes-large": _TICK,
    "click-checkboxes-soft": _TICK.replace(
        "names.includes(word)",
        "SYNONYMS.some((set) => set.includes(word) && names.some((n) => set.includes(n)))",
    ),
    "click-checkboxes-transfer": _TICK,
    "click-option": """(() => {
        const name = /^Select (\\w+) and/.exec(q)[1];
        const radio = byText('#boxes label', name).querySelector('input');
        return radio.checked ? submit() : click(radio);
    })()""",
    # The first name by a click, the second by the keys that add to what is chosen.
    "click-scroll-list": r"""(() => {
        const list = one('#options');
        const names = /^Select (.*) from the scroll list/.exec(q)[1].split(', ');
        const options = Array.from(list.options);
        const wanted = names.map((name) => options.findIndex((o) => text(o) === name));
        const chosen = options.map((o, i) => (o.selected ? i : -1)).filter((i) => i >= 0);
        if (String(chosen) === String([...wanted].sort((a, b) => a - b))) {
          return click(byText('#area button', 'Submit'));
        }
        if (chosen.length !== 1 || !wanted.includes(chosen[0]) || !('at' in notes)) {
          notes.at = Math.min(...wanted);
          const option = options[notes.at];
          const [, top, , bottom] = boxOf(option);
          const [, high, , low] = boxOf(list);
          if (bottom > low) return scroll(list, 'down', bottom - low);
          if (top < high) return scroll(list, 'up', high - top);
          return click(option);
        }
        const steps = wanted.find((i) => i !== chosen[0]) - notes.at;
        if (steps === 0) return press(list, 'Control', ' ');
        notes.at += Math.sign(steps);
        return press(list, 'Control', steps > 0 ? 'ArrowDown' : 'ArrowUp');
    })()""",
    "click-shades": r"""(() => {
        const colour = /shades of (\w+)/.exec(q)[1];
        const shade = all('#area span').find(
          (e) => (e.className === 'selected') !== (e.dataset.color === colour));
        return click(shade || one('#submit'));
    })()""",
    "form-sequence": r"""(() => {
        const [, n, nth] = /^Select (-?\d+) with the slider, click the (\d)/.exec(q);
        const box = all('#area input').find(
          (e) => e.checked !== (e.id === 'checkbox-' + nth));
        return slide('#slider', Number(n)) || (box ? click(box) : submit());
    })()""",
    "form-sequence-3": r"""(() => {
        const height = /^Choose (.*) from the dropdown/.exec(q)[1];
        if (one('#dropdown').value === height) {
          return click(byText('#buttons button', quoted(0)));
        }
        if (!isShown(one('.selectric-items'))) return click(one('.selectric'));
        return reach(byText('.selectric-items li', height));
    })()""",
    "number-checkboxes": r"""(() => {
        const pattern = PATTERNS[Number(quoted(0))].flat();
        const box = all('#checkboxes input').find((e, i) => e.checked !== Boolean(pattern[i]));
        return box ? click(box) : submit();
    })()""",
    "odd-or-even": r"""(() => {
        for (const row of all('#numbers .row')) {
          const isOdd = Number(text(row.querySelector('.display-number'))) % 2 !== 0;
          const button = row.querySelector(isOdd ? '.odd' : '.even');
          if (!button.classList.contains('selected')) return click(button);
        }
        return click(one('#submit'));
    })()""",
    "order-food": r"""(() => {
        const items = all('.food-item');
        const kind = /^Order (\d+) items that are (.*)$/.exec(q);
        const names = kind ? [] : q.replace(/^Order one of each item: /, '').split(', ');
        const first = kind && items.find((e) => e.querySelector(`img[alt="${kind[2]}"]`));
        for (const item of items) {
          const wanted = kind ? (item === first ? Number(kind[1]) : 0)
            : Number(names.includes(text(item.querySelector('.item-name'))));
          const ordered = Number(item.dataset.quantity);
          if (ordered < wanted) return reach(item.querySelector('.add'));
          if (ordered > wanted) return reach(item.querySelector('.remove'));
        }
        return reach(one('#submit-order button'));
    })()""",
    "use-colorwheel": _COLOUR
    % "ui_utils.colorNameToHex(/^Select (\\w+) with/.exec(q)[1])",
    "use-colorwheel-2": _COLOUR % _SWATCH,
    "use-slider": "slide('#slider', Number(/^Select (-?\\d+) /.exec(q)[1])) || submit()",
    "use-slider-2": r"""(() => {
        const values = JSON.parse(/\[.*\]/.exec(q)[0]);
        return slide('#slider-1', values[0]) || slide('#slider-2', values[1])
          || slide('#slider-3', values[2]) || submit();
    })()""",
    "use-spinner": r"""(() => {
        const steps = Number(/^Select (-?\d+) /.exec(q)[1]) - Number(one('#spinner').value);
        if (steps === 0) return submit();
        return click(one(steps > 0 ? '.ui-spinner-up' : '.ui-spinner-down'));
    })()""",
}
