"""What experts do with text that the page holds: find, copy, mark, scroll, type it."""

from typing import Final

_COPY: Final = r"""(() => {
  const [source, target] = [one('%s'), one('#answer-input')];
  const words = source.value;
  if (target.value === words) return submit();
  if (ocheClipboard() !== words) {
    if (document.activeElement !== source) return click(source);
    return press(source, 'Control', isAllSelected(source) ? 'c' : 'a');
  }
  if (document.activeElement !== target) return click(target);
  return press(target, 'Control', target.value && !isAllSelected(target) ? 'a' : 'v');
})()"""
_MARK: Final = r"""(() => {
  const squeeze = (words) => words.replace(/\s/g, '');
  const paragraph = %s;
  if (squeeze(String(getSelection())) === squeeze(paragraph.textContent)) return submit();
  const range = document.createRange();
  range.selectNodeContents(paragraph);
  const lines = Array.from(range.getClientRects()).filter((r) => r.width > 0);
  const [first, last] = [lines[0], lines[lines.length - 1]];
  return drag(paragraph, [first.left - 2, first.top + first.height / 2],
    [last.right + 2, last.top + last.height / 2]);
})()"""

EXPERTS: Final[dict[str, str]] = {
    "copy-paste": _COPY % "#to-copy",
    "copy-paste-2": _COPY.replace("one('%s')", "one(`#text-${ordinal() + 1}`)"),
    "find-word": r"""(() => {
        const nth = Number(/the (\d+)/.exec(q)[1]);
        const word = text(one('#area p')).split(/\s+/)[nth - 1].replace(/[^a-zA-Z]/g, '');
        return fill(one('#answer-input'), word) || submit();
    })()""",
    "highlight-text": _MARK % "one('#randomText')",
    "highlight-text-2": _MARK % "all('#randomText p')[ordinal()]",
    "read-table": r"""(() => {
        const label = /value of (.*) into the text/.exec(q)[1];
        const row = all('#tab tr').find((e) => text(e.children[0]) === label);
        return fill(one('#tt'), text(row.children[1])) || submit();
    })()""",
    "read-table-2": r"""(() => {
        const value = (label) => text(all('#tab tr').find(
          (e) => text(e.children[0]) + ':' === text(one(label))).children[1]);
        return fill(one('#tt1'), value('#ll1')) || fill(one('#tt2'), value('#ll2')) || submit();
    })()""",
    "scroll-text": r"""(() => {
        const [area, field] = [one('#text-area'), one('#answer-input')];
        const below = area.scrollHeight - area.clientHeight - area.scrollTop;
        if (below > 5 && field.value === '') return scroll(area, 'down', below);
        const words = area.value.split(/\s/);
        return fill(field, words[words.length - 1].replace(/[^a-zA-Z0-9]/g, '')) || submit();
    })()""",
    "scroll-text-2": r"""(() => {
        const area = one('#text-area');
        const below = area.scrollHeight - area.clientHeight - area.scrollTop;
        const isDown = /to the bottom/.test(q);
        const left = isDown ? below : area.scrollTop;
        return left > 5 ? scroll(area, isDown ? 'down' : 'up', left) : submit();
    })()""",
    "sign-agreement": r"""(() => {
        if (/Click the cancel button/.test(q)) return click(one('#cancel'));
        const area = one('#text-area');
        const below = area.scrollHeight - area.clientHeight - area.scrollTop;
        if (one('#agree').disabled) return scroll(area, 'down', Math.max(below, 1));
        return fill(one('#name'), quoted(0)) || click(one('#' + quoted(1).toLowerCase()));
    })()""",
    "text-transform": "fill(one('#tt'), text(one('#captcha'))) || submit()",
}
