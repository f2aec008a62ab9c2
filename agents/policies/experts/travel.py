"""How experts book flights and fill a calendar."""

from typing import Final

_BOOK: Final = r"""(() => {
  const [, goal, from, to, date] =
    /Book the (\w+) one-way flight from: (.*) to: (.*) on (\S+)\.$/.exec(q);
  if (isShown(one('#results'))) {
    const key = goal === 'cheapest' ? ['.flight-price', 'price'] : ['.time-duration', 'duration'];
    const cost = (e) => Number(e.querySelector(key[0]).dataset[key[1]]);
    const best = all('.flight').reduce((a, b) => (cost(b) < cost(a) ? b : a));
    return reach(best.querySelector('.flight-price'));
  }
  const enter = (field, words) => {
    if (DOMESTIC_FLIGHTS.includes(field.value) && field.value.includes(words)) return null;
    const item = all('.ui-menu-item').find((e) => isShown(e) && text(e).includes(words));
    if (field.value === words) return item ? reach(item) : wait(0.4, field);
    return fill(field, words);
  };
  return enter(one('#flight-from'), from) || enter(one('#flight-to'), to)
    || pickDate(one('#datepicker'), date) || reach(one('#search'));
})()"""

EXPERTS: Final[dict[str, str]] = {
    "book-flight": _BOOK,
    "book-flight-nodelay": _BOOK,
    "buy-ticket": r"""(() => {
        const goal = /with the (.*)\.$/.exec(q)[1];
        const value = (e) => (/cost/.test(goal)
          ? Number(e.querySelector('.buy-ticket').dataset.price)
          : Number(e.querySelector('.time-duration').dataset.duration));
        const sign = /cheapest|shortest/.test(goal) ? 1 : -1;
        const best = all('.flight').reduce((a, b) => (sign * (value(b) - value(a)) < 0 ? b : a));
        return click(best.querySelector('.buy-ticket'));
    })()""",
    "daily-calendar": r"""(() => {
        const form = one('#create-event');
        if (form) {
          return fill(one('#event-name'), quoted(0)) || reach(one('#controls .create'));
        }
        const [, amount, unit] = /Create a ([\d.]+) (hour|min)/.exec(q);
        const length = Math.round(Number(amount) / (unit === 'hour' ? 0.5 : 30));
        const start = {'8AM': 16, '12PM': 24, '4PM': 32}[/between (\w+) and/.exec(q)[1]];
        const cell = (i) => one('#hh-' + i);
        const isFree = (i) => all('.event').every((e) => {
          const [, top, , bottom] = boxOf(e);
          const [, high, , low] = boxOf(cell(i));
          return bottom <= high + 2 || top >= low - 2;
        });
        const spans = (i) => Array.from({length}, (_, k) => i + k);
        const first = spans(start).map((_, k) => k) && Array.from({length: 9 - length},
          (_, k) => start + k).find((i) => spans(i).every(isFree));
        const last = first + length - 1;
        const move = show(cell(first)) || show(cell(last));
        if (move) return move;
        const [x, y] = centre(cell(first));
        const [, endY] = centre(cell(last));
        return drag(cell(first), [x, y - 4], [x, endY + 4]);
    })()""",
}
