"""How experts fill in forms."""

from typing import Final

_SEARCH_MOVIES: Final = r"""(() => {
  const [, genre, name, year] = /^Search for (.*) movies directed by (.*) from year (\d+)/.exec(q);
  const words = [[/Genre/, genre], [/Director/, name], [/Year|Released/, year]];
  for (const field of all('#area input')) {
    const row = field.closest('p, tr, div.row, div.field, div.ui-entry');
    const move = fill(field, words.find(([label]) => label.test(text(row)))[1]);
    if (move) return move;
  }
  return click(one('#area button, #area .final, #area .ui-submit'));
})()"""
_COMPLETE_WORD: Final = r"""(() => {
  const [, start] = /starts with "([^"]*)"/.exec(q);
  const [, end] = /ends with "([^"]*)"/.exec(q) || ['', ''];
  const field = one('#tags');
  const item = ITEMS.find((e) => e.startsWith(start) && e.endsWith(end));
  const suggestion = all('.ui-menu-item').find((e) => isShown(e) && text(e) === item);
  return fill(field, item) || (suggestion ? click(suggestion) : submit());
})()"""
_LOGIN: Final = (
    "fill(one('#username'), quoted(0)) || fill(one('#password'), quoted(1)) || submit()"
)


def _in_parts(value: str) -> str:
    """Return an expert for a field that has parts, such as hours and minutes.

    Args:
        value: JavaScript of what the field's value shall be; ``keys`` are to be typed.
    """
    return f"""(() => {{
      {value}
      const field = one('#tt');
      if (field.value === wanted) return submit();
      const [left, top, , bottom] = boxOf(field);
      // The first part lies at the left; the next follow by themselves.
      if (document.activeElement !== field) {{
        return clickAt(left + 9, (top + bottom) / 2, field);
      }}
      return type(field, keys);
    }})()"""


EXPERTS: Final[dict[str, str]] = {
    "enter-date": _in_parts(r"""
      const [, month, day, year] = /(\d+)\/(\d+)\/(\d+)/.exec(q);
      const wanted = `${year}-${month}-${day}`;
      const keys = month + day + year;"""),
    "enter-password": (
        "fill(one('#password'), quoted(0)) || fill(one('#verify'), quoted(0)) || submit()"
    ),
    "enter-text": "fill(one('#tt'), quoted(0)) || submit()",
    "enter-text-2": (
        "fill(one('#tt'), / all upper case /.test(q) ? quoted(0).toUpperCase()"
        " : quoted(0).toLowerCase()) || submit()"
    ),
    "enter-text-dynamic": "fill(one('#tt'), quoted(0)) || submit()",
    "enter-time": _in_parts(r"""
      const [, hour, minute, half] = /(\d+):(\d+)\s*(AM|PM)/.exec(q);
      const hours = Number(hour) % 12 + (half === 'PM' ? 12 : 0);
      const wanted = `${String(hours).padStart(2, '0')}:${minute}`;
      const keys = hour.padStart(2, '0') + minute + half;"""),
    "fill-nth": (
        "all('#area input').reduce((move, e, i) =>"
        " move || fill(e, i === ordinal() ? quoted(0) : ''), null) || submit()"
    ),
    "form-sequence-2": r"""(() => {
        const [, radio, number, field] =
          /Check the (\d)\w\w radio .* number "(-?\d+)" into the (\d)/.exec(q);
        const circle = one(`#area input[type=radio][value="${radio}"]`);
        if (!circle.checked) return click(circle);
        return fill(one('#input-' + field), number) || submit();
    })()""",
    "login-user": _LOGIN,
    "login-user-popup": f"one('#popup') ? click(one('#popup-cancel')) : {_LOGIN}",
    "multi-layouts": _SEARCH_MOVIES,
    "multi-orderings": _SEARCH_MOVIES,
    "terminal": r"""(() => {
        const screen = one('#terminal-contents');
        if (document.activeElement !== one('#terminal-target')) return click(screen);
        if (text(one('#active-input'))) return press(screen, 'Backspace');
        if (!text(screen).includes(currentFiles.join(' '))) return type(screen, 'ls\n');
        const ending = /no file extension/.test(q) ? '' : /extension \.(\S+)/.exec(q)[1];
        const isWanted = (name) => (ending
          ? name.endsWith('.' + ending) && name.indexOf(ending) + ending.length === name.length
          : !name.includes('.'));
        return type(screen, `rm ${currentFiles.find(isWanted)}\n`);
    })()""",
    "text-editor": r"""(() => {
        const [, all_, word, rest] = /(everything)|give the text (\S+) the (.*)/.exec(q);
        const colour = /the color (\w+)/.exec(q);
        const style = /the style (\w+)/.exec(q);
        const [key, value] = colour ? ['color', COLOR_MAP[colour[1]][0]]
          : [{bold: 'bold', italics: 'italic', underlined: 'underline'}[style[1]], true];
        const content = editor.getText();
        const [start, length] = all_ ? [0, content.length - 1]
          : [` ${content.replace('\n', ' ')}`.indexOf(` ${word} `), word.length];
        if (editor.getFormat(start, length)[key] === value) return submit();
        const item = colour && one(`.ql-picker-item[data-value="${value}"]`);
        if (isShown(item)) return click(item);
        const chosen = editor.getSelection();
        if (chosen && chosen.index === start && chosen.length >= length) {
          return click(one(colour ? '.ql-picker-label' : '.ql-' + key));
        }
        const [from, to] = [editor.getBounds(start), editor.getBounds(start + length)];
        const [left, top] = boxOf(one('#editor'));
        const line = (at) => top + at.top + at.height / 2;
        return drag(one('.ql-editor'), [left + from.left - (all_ ? 4 : 0), line(from)],
          [left + to.left + (all_ ? 4 : 0), line(to)]);
    })()""",
    "use-autocomplete": _COMPLETE_WORD,
    "use-autocomplete-nodelay": _COMPLETE_WORD,
}
