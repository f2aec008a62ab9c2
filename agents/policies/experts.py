"""What an expert does next on each page, as JavaScript that looks at the page.

A script sees the page as it is and answers with one move, so it carries on from
wherever a policy, a person or an accident has left the episode.
"""

from typing import Final

HELPERS: Final = """
const q = core.getUtterance();
const one = (selector) => document.querySelector(selector);
const all = (selector) => Array.from(document.querySelectorAll(selector));
const text = (e) => e.textContent.trim();
const rect = (e) => Array.from(e.getClientRects()).reduce(
  (best, r) => (best && best.width >= r.width ? best : r), null);
const hits = (e, x, y) => {
  const top = document.elementFromPoint(x, y);
  return top !== null && (top === e || e.contains(top));
};
const click = (e) => {
  const r = rect(e);
  if (!r) return null;
  const box = [r.left, r.top, r.right, r.bottom];
  const at = (u, v) => [r.left + u * r.width, r.top + v * r.height];
  // Near the centre first; a target that is partly covered may need its rim.
  for (const scale of [0.1, 0.5, 0.9]) {
    for (const [u, v] of DRAWS) {
      const [x, y] = at(0.5 + (u - 0.5) * scale, 0.5 + (v - 0.5) * scale);
      if (y < 210 && hits(e, x, y)) return {kind: 'click', box, x, y};
    }
  }
  const [x, y] = at(0.5, 0.5);
  return {kind: 'click', box, x, y};
};
const type = (e, words) => ({kind: 'type', text: words, box: click(e).box});
const isAllSelected = (e) => e.selectionStart === 0 && e.selectionEnd === e.value.length;
const fill = (e, words) => {
  if (e.value === words) return null;
  if (document.activeElement !== e) return click(e);
  if (e.value === '' || isAllSelected(e)) return type(e, words);
  return {kind: 'key', keys: ['Control', 'a'], box: click(e).box};
};
const submit = () => click(one('#subbtn'));
const ordinal = () => Number(/ (\\d)(?:st|nd|rd) /.exec(q)[1]) - 1;
const quoted = (n) => Array.from(q.matchAll(/"([^"]*)"/g))[n][1];
const byText = (selector, words) => all(selector).find((e) => text(e) === words);
"""

EXPERTS: Final[dict[str, str]] = {
    "click-button": "click(byText('#area button', quoted(0)))",
    "click-button-sequence": (
        "click(one(buttonsPushed.length === 0 ? '#subbtn' : '#subbtn2'))"
    ),
    "click-collapsible": (
        "$('.ui-accordion-content:visible').length ? submit() : click(one('#area h3'))"
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
    "click-option": """(() => {
        const name = /^Select (\\w+) and/.exec(q)[1];
        const radio = byText('#boxes label', name).querySelector('input');
        return radio.checked ? submit() : click(radio);
    })()""",
    "click-tab": "click(one('a[href=\"#tabs-' + /#(\\d)/.exec(q)[1] + '\"]'))",
    "click-test": "submit()",
    "click-test-2": "submit()",
    "click-widget": "click(one('#area [data-type=' + quoted(0) + ']'))",
    "enter-password": (
        "fill(one('#password'), quoted(0)) || fill(one('#verify'), quoted(0)) || submit()"
    ),
    "enter-text": "fill(one('#tt'), quoted(0)) || submit()",
    "enter-text-dynamic": "fill(one('#tt'), quoted(0)) || submit()",
    "fill-nth": (
        "all('#area input').reduce((move, e, i) =>"
        " move || fill(e, i === ordinal() ? quoted(0) : ''), null) || submit()"
    ),
    "focus-text": "click(one('#tt'))",
    "focus-text-2": "click(all('#area input')[ordinal()])",
    "login-user": (
        "fill(one('#username'), quoted(0)) || fill(one('#password'), quoted(1))"
        " || submit()"
    ),
}
