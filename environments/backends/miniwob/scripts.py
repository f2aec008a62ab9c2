"""JavaScript that runs in MiniWoB's pages; the pages themselves stay untouched."""

import json
from typing import Final

IN_EVERY_DOCUMENT: Final = """
(() => {
  // Pages of one browser share its clipboard; each of ours has one of its own.
  let clipboard = '';
  const selected = () => {
    const field = document.activeElement;
    return field && typeof field.selectionStart === 'number'
      ? field.value.slice(field.selectionStart, field.selectionEnd)
      : String(getSelection());
  };
  addEventListener('copy', (event) => { clipboard = selected(); event.preventDefault(); });
  addEventListener('cut', (event) => {
    clipboard = selected();
    event.preventDefault();
    document.execCommand('delete');
  });
  addEventListener('paste', (event) => {
    event.preventDefault();
    document.execCommand('insertText', false, clipboard);
  });
  window.ocheClipboard = () => clipboard;
  window.ocheClearClipboard = () => { clipboard = ''; };

  const isTop = window === window.top;
  if (isTop) {
    // One page shows today's date: every episode begins at the same instant.
    const Real = Date;
    const start = Real.UTC(2020, 0, 1, 12);
    let shift = start - Real.now();
    window.ocheResetClock = () => { shift = start - Real.now(); };
    const now = () => Real.now() + shift;
    window.Date = new Proxy(Real, {
      construct: (_, given) => new Real(...(given.length ? given : [now()])),
      apply: () => new Real(now()).toString(),
      get: (_, name) => (name === 'now' ? now : Real[name]),
    });
  }

  document.addEventListener('DOMContentLoaded', () => {
    const style = document.createElement('style');
    style.textContent = `
      * { caret-color: transparent !important; }
      *, *::before, *::after { animation: none !important; transition: none !important; }
      #reward-display, #click-canvas, #sync-task-cover { display: none !important; }
    ` + (isTop ? 'html { overflow: hidden; }' : '');
    document.head.appendChild(style);
    if (window.jQuery) jQuery.fx.off = true;
  });
})();
"""
"""Nothing blinks, moves or scrolls by itself, and the bookkeeping that a page draws
beside and over the task (score, click marks, START cover) is out of sight."""

PRELOAD: Final = """
(async () => {
  const urls = new Set();
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      for (const text of rule.style ? [rule.style.backgroundImage, rule.style.content] : []) {
        for (const [, url] of text.matchAll(/url\\("?([^")]*)"?\\)/g)) {
          urls.add(new URL(url, sheet.href || location.href).href);
        }
      }
    }
  }
  window.ochePreloaded = await Promise.all([...urls].map(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode().catch(() => null);
    return image;
  }));
  return urls.size;
})()
"""
"""Fetches the icons that style sheets name: a picture that is taken while one is still
on its way shows a button without its "x"."""

# A real episode ends after 10 s. Ours have limits of their own, so that a slow model is
# not the page's business. setTimeout takes at most 2^31 - 1 ms.
_EPISODE_MAX_MS: Final = 1_000_000_000

_RESET: Final = """
(async () => {
  if (document.activeElement) document.activeElement.blur();
  // Only a form's reset makes a field as if nobody had ever typed into it: whatever else
  // empties a textarea keeps it from showing the text that the page puts in later.
  const form = document.body.appendChild(document.createElement('form'));
  form.id = 'oche-form';
  const fields = document.querySelectorAll('input, textarea, select');
  for (const field of fields) field.setAttribute('form', form.id);
  form.reset();
  for (const field of fields) {
    field.removeAttribute('form');
    if (field.jscolor) { field.jscolor.hide(); field.jscolor.fromString(field.value); }
  }
  form.remove();
  for (const e of document.querySelectorAll('#area, #area *')) {
    if (e.scrollTop || e.scrollLeft) e.scrollTop = e.scrollLeft = 0;
  }
  if (window.jQuery && jQuery.datepicker && jQuery.datepicker._curInst) {
    jQuery.datepicker._hideDatepicker();
  }
  ocheClearClipboard();
  ocheResetClock();
  window.ocheNotes = {};
  core.EPISODE_MAX_TIME = %d;
  Math.seedrandom(%s);
  core.startEpisodeReal();
  window.scrollTo(0, 0);
  while (!WOB_TASK_READY) await new Promise((done) => setTimeout(done, 10));
  await Promise.all([...document.images].map((e) => e.decode().catch(() => null)));
  // Some pages answer with fields for scripts beside the words for people.
  const words = core.getUtterance();
  return typeof words === 'string' ? words : words.utterance;
})()
"""

STATE: Final = "[WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL, WOB_REWARD_REASON]"


def reset_script(seed: int) -> str:
    """Return the script that starts the seed's episode and gives its instruction."""
    return _RESET % (_EPISODE_MAX_MS, json.dumps(str(seed)))
