"""What experts do when it matters when they do it."""

from typing import Final

EXPERTS: Final[dict[str, str]] = {
    "button-delay": r"""(() => {
        if (buttonsPushed.length === 0) return click(one('#subbtn'));
        const left = timeDelay - (Date.now() - currentTime) / 1000;
        return left > 0.05 ? wait(left) : click(one('#subbtn2'));
    })()""",
    "chase-circle": r"""(() => {
        const circle = one('#circ');
        const [x, y] = centre(circle);
        const isNear = notes.at && Math.hypot(notes.at[0] - x, notes.at[1] - y) < 7;
        if (isNear) return wait(0.06, circle);
        notes.at = [x, y];
        return {kind: 'move', x, y, box: boxOf(circle)};
    })()""",
    "moving-items": r"""(() => {
        const circle = all('.item').find((e) => {
          const [x, y] = centre(e);
          return x > 8 && x < 152 && y > 56 && y < 205;
        });
        return circle ? clickAt(...centre(circle), circle) : wait(0.1);
    })()""",
    # Watches from its first look on: the first button blinks 0.6 s after the start.
    "simon-says": r"""(() => {
        const buttons = all('#area button');
        if (!notes.shown) {
          notes.shown = [];
          notes.last = performance.now();
          notes.clicks = 0;
          new MutationObserver((changes) => changes.forEach(({target}) => {
            if (!target.classList.contains('push')) return;
            notes.shown.push(target);
            notes.last = performance.now();
          })).observe(one('#area'), {attributes: true, attributeFilter: ['class'], subtree: true});
        }
        const isOver = notes.shown.length > 0 && performance.now() - notes.last > 1000;
        const next = isOver && notes.shown[notes.clicks++];
        return next ? click(next) : wait(0.2);
    })()""",
    # Clicks right after a price has come: the next comes 0.1 s later.
    "stock-market": r"""(() => {
        const price = one('#stock-price');
        if (!notes.isWatching) {
          notes.isWatching = true;
          notes.at = 0;
          new MutationObserver(() => { notes.at = performance.now(); })
            .observe(price, {childList: true, characterData: true, subtree: true});
        }
        const limit = Number(/less than \$([\d.]+)\.$/.exec(q)[1]);
        const value = Number(text(price).slice(1));
        const isFresh = performance.now() - notes.at < 50;
        if (text(price) && value <= limit && (isFresh || value <= limit - 1.5)) {
          return click(one('#buy'));
        }
        return wait(value <= limit ? 0.03 : 0.1, price);
    })()""",
}
