// What experts' scripts share: looking at the page, and naming the next move.
// `DRAWS` are pairs of numbers in [0, 1): where near the centre of a target to click.
const said = core.getUtterance();
const q = typeof said === 'string' ? said : said.utterance;
const one = (selector) => document.querySelector(selector);
const all = (selector) => Array.from(document.querySelectorAll(selector));
const text = (e) => e.textContent.trim();
const rect = (e) => Array.from(e.getClientRects()).reduce(
  (best, r) => (best && best.width >= r.width ? best : r), null);
const isShown = (e) => Boolean(e) && e.getClientRects().length > 0;
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
      if (y < innerHeight && hits(e, x, y)) return {kind: 'click', box, x, y};
    }
  }
  const [x, y] = at(0.5, 0.5);
  return {kind: 'click', box, x, y};
};
const type = (e, words) => ({kind: 'type', text: words, box: click(e).box});
const press = (e, ...keys) => ({kind: 'key', keys, box: click(e).box});
const isAllSelected = (e) => e.selectionStart === 0 && e.selectionEnd === e.value.length;
const fill = (e, words) => {
  if (e.value === words) return null;
  if (document.activeElement !== e) return click(e);
  if (e.value === '' || isAllSelected(e)) return type(e, words);
  return press(e, 'Control', 'a');
};
const submit = () => click(one('#subbtn'));
const ordinal = () => Number(/ (\d)(?:st|nd|rd) /.exec(q)[1]) - 1;
const quoted = (n) => Array.from(q.matchAll(/"([^"]*)"/g))[n][1];
const byText = (selector, words) => all(selector).find((e) => text(e) === words);
const labelled = (pattern) => all('button, .secondary-action').find((e) => pattern.test(text(e)));

// Whole pixels: a point lies in the middle of its pixel.
const middle = (v) => Math.floor(v) + 0.5;
const boxOf = (e) => {
  const r = e.getBoundingClientRect();
  return [r.left, r.top, r.right, r.bottom];
};
const centre = (e) => {
  const [left, top, right, bottom] = boxOf(e);
  return [(left + right) / 2, (top + bottom) / 2];
};
const clickAt = (x, y, e) => ({kind: 'click', x: middle(x), y: middle(y), box: boxOf(e)});
const moveTo = (e) => ({...click(e), kind: 'move'});
const wait = (seconds, e = one('#area')) => ({kind: 'wait', seconds, box: boxOf(e)});
const drag = (e, [x, y], [toX, toY]) => ({
  kind: 'drag', x: middle(x), y: middle(y), to_x: middle(toX), to_y: middle(toY),
  box: boxOf(e), to_box: [toX - 2, toY - 2, toX + 2, toY + 2],
});

// A wheel's notch is 40 px.
const NOTCH = 40;
const scroll = (e, direction, pixels) => {
  const [x, y] = centre(e);
  const amount = Math.min(50, Math.max(1, Math.ceil(pixels / NOTCH)));
  return {kind: 'scroll', x, y, direction, amount, box: boxOf(e)};
};
const scroller = (e) => {
  for (let box = e.parentElement; box; box = box.parentElement) {
    const {overflowY} = getComputedStyle(box);
    if (/auto|scroll/.test(overflowY) && box.scrollHeight > box.clientHeight + 1) return box;
  }
  return null;
};
// Brings what lies below or above the fold of a box into view; null if it is there.
const show = (e) => {
  const box = scroller(e);
  if (!box) return null;
  const [, top, , bottom] = boxOf(e);
  const edges = boxOf(box);
  const [high, low] = [Math.max(0, edges[1]), Math.min(innerHeight, edges[3])];
  if (bottom > low - 1 && top > high + 2) return scroll(box, 'down', bottom - low + 2);
  if (top < high && bottom < low - 2) return scroll(box, 'up', high - top + 2);
  return null;
};
const reach = (e) => show(e) || click(e);

// A list that drops down is drawn by the system, so it is worked by keys.
const focusBy = (e) => {
  const active = document.activeElement;
  const isAfter = active && active !== document.body
    && (active.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING);
  return isAfter ? press(e, 'Shift', 'Tab') : press(e, 'Tab');
};
const choose = (e, words) => {
  const wanted = Array.from(e.options).findIndex((o) => text(o) === words);
  if (e.selectedIndex === wanted) return null;
  if (document.activeElement !== e) return focusBy(e);
  const steps = wanted - e.selectedIndex;
  if (Math.abs(steps) < 3) return press(e, steps > 0 ? 'ArrowDown' : 'ArrowUp');
  return type(e, words);
};

// jQuery UI's slider: dragged near, then to the very value by the arrow keys.
const slide = (id, wanted) => {
  const slider = $(id);
  const value = slider.slider('value');
  if (value === wanted) return null;
  const handle = slider.find('.ui-slider-handle')[0];
  const [min, max] = [slider.slider('option', 'min'), slider.slider('option', 'max')];
  const isAcross = slider.slider('option', 'orientation') === 'horizontal';
  const isHeld = document.activeElement === handle;
  if (isHeld && Math.abs(wanted - value) <= 3) {
    return press(handle, wanted > value ? 'ArrowRight' : 'ArrowLeft');
  }
  const length = isAcross ? slider.width() : slider.height();
  const pixels = (wanted - value) / (max - min) * length;
  const [x, y] = centre(handle);
  return drag(handle, [x, y], isAcross ? [x + pixels, y] : [x, y - pixels]);
};

// jQuery UI's date picker: the month by its arrows, then the day. `date` is MM/DD/YYYY.
const pickDate = (field, date) => {
  if (field.value === date) return null;
  const picker = one('#ui-datepicker-div');
  if (!isShown(picker)) return click(field);
  const [month, day, year] = date.split('/').map(Number);
  const shown = picker.querySelector('td[data-month]').dataset;
  const months = (year - Number(shown.year)) * 12 + month - 1 - Number(shown.month);
  if (months) return click(one(months < 0 ? '.ui-datepicker-prev' : '.ui-datepicker-next'));
  return click(byText('#ui-datepicker-div td a', String(day)));
};

// What an expert has seen in this episode and the page no longer shows.
const notes = window.ocheNotes || (window.ocheNotes = {});
