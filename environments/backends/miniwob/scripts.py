"""JavaScript that runs in MiniWoB's pages; the pages themselves stay untouched."""

import json
from typing import Final

IN_EVERY_DOCUMENT: Final = """
document.addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = `
    * { caret-color: transparent !important; }
    *, *::before, *::after { animation: none !important; transition: none !important; }
    html { overflow: hidden; }
    #reward-display, #click-canvas, #sync-task-cover { display: none !important; }
  `;
  document.head.appendChild(style);
  if (window.jQuery) jQuery.fx.off = true;
});
"""
"""Nothing blinks, moves or scrolls by itself, and the bookkeeping that a page draws
beside and over the task (score, click marks, START cover) is out of sight."""

PRELOAD: Final = """
(async () => {
  const urls = new Set();
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      const image = rule.style && rule.style.backgroundImage;
      const match = image && /^url\\("?([^"]*)"?\\)$/.exec(image);
      if (match) urls.add(new URL(match[1], sheet.href || location.href).href);
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
(() => {
  if (document.activeElement) document.activeElement.blur();
  for (const field of document.querySelectorAll('input, textarea')) {
    field.value = field.defaultValue;
    field.checked = field.defaultChecked;
  }
  core.EPISODE_MAX_TIME = %d;
  Math.seedrandom(%s);
  core.startEpisodeReal();
  window.scrollTo(0, 0);
  return core.getUtterance();
})()
"""

STATE: Final = "[WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL, WOB_REWARD_REASON]"


def reset_script(seed: int) -> str:
    """Return the script that starts the seed's episode and gives its instruction."""
    return _RESET % (_EPISODE_MAX_MS, json.dumps(str(seed)))
