"""How experts fill in the search forms of airlines, which lie in a frame."""

from typing import Final

_FRAME: Final = r"""
const view = core.flightChildWindow();
const page = view.document;
const {request} = core.currentQuestion;
const find = (selector) => page.querySelector(selector);
const findAll = (selector) => Array.from(page.querySelectorAll(selector));
const field = (name) => find(`input[name="${name}"]`);
const tap = (e) => {
  const [left, top, right, bottom] = boxOf(e);
  if (bottom > view.innerHeight || top < 0) {
    const down = bottom > view.innerHeight;
    return {...scroll(page.body, down ? 'down' : 'up', Math.abs(down ? bottom - view.innerHeight : top) + 40),
      x: 360, y: 400, box: [0, 0, view.innerWidth, view.innerHeight]};
  }
  const [u, v] = DRAWS[0];
  return {kind: 'click', box: boxOf(e), x: middle(left + (0.4 + 0.2 * u) * (right - left)),
    y: middle(top + (0.4 + 0.2 * v) * (bottom - top))};
};
const enter = (e, words) => {
  if (page.activeElement !== e) return tap(e);
  if (e.value === '' || isAllSelected(e)) return {kind: 'type', text: words, box: boxOf(e)};
  return {kind: 'key', keys: ['Control', 'a'], box: boxOf(e)};
};
"""

_AMERICAN: Final = rf"""(() => {{ {_FRAME}
  for (const name of ['segments[0].origin', 'segments[0].destination']) {{
    const e = field(name);
    if (e.value !== request[name]) return enter(e, request[name]);
    if (page.activeElement === e && find('.ui-autocomplete li:not([style*="none"])')
      && findAll('.ui-autocomplete').some(isShown)) {{
      return {{kind: 'key', keys: ['Escape'], box: boxOf(e)}};
    }}
  }}
  for (const name of ['segments[0].travelDate', 'segments[1].travelDate']) {{
    if (field(name).value === request[name]) continue;
    const [month, day] = request[name].split('/').map(Number);
    const link = findAll(`td[data-month="${{month - 1}}"] a`).filter(isShown)
      .find((e) => text(e) === String(day));
    return tap(link || field(name));
  }}
  return tap(findAll('button.btn').find((e) => isShown(e) && text(e) === 'Search'));
}})()"""
_ALASKA: Final = rf"""(() => {{ {_FRAME}
  const wanted = (name) => request['SearchFields.' + name];
  const input = (name) => field('SearchFields.' + name);
  if (input('SearchType').value !== wanted('SearchType')) return tap(find('label[for=srh-isow]'));
  for (const name of ['DepartureCity', 'ArrivalCity']) {{
    const e = input(name);
    if (e.value === wanted(name)) continue;
    const item = findAll('li').find((li) => isShown(li) && text(li) === wanted(name));
    if (item) return tap(item);
    const city = wanted(name).replace(/,.*/, '');
    return e.value === city ? wait(0.3, e) : enter(e, city);
  }}
  const done = find('#btnDone');
  for (const name of ['DepartureDate', 'ReturnDate']) {{
    const date = wanted(name);
    if (!date || input(name).value === date) continue;
    if (!isShown(done) || notes.picking !== name) {{
      if (isShown(done)) return tap(done);
      notes.picking = name;
      return tap(input(name));
    }}
    const day = date.split('/')[1];
    const [month] = date.split('/').map(Number);
    return tap(findAll('a.cal-day').filter(isShown).find((e) => text(e) === day));
  }}
  if (isShown(done)) return tap(done);
  const extra = Number(wanted('NumberOfTravelers') || 1) - Number(text(find('#tnum-display')));
  if (extra) return tap(findAll('.tnum-button')[extra > 0 ? 1 : 0]);
  const cabin = find(`input[name="SearchFields.CabinType"][value="${{wanted('CabinType') || 'Coach'}}"]`);
  if (!cabin.checked) {{
    const label = cabin.closest('label');
    return isShown(label) ? tap(label) : tap(find('#moreoptionsdiv h2'));
  }}
  return tap(findAll('input[type=submit]').find(isShown));
}})()"""

EXPERTS: Final[dict[str, str]] = {
    "flight.AA": _AMERICAN,
    "flight.Alaska": _ALASKA,
    "flight.Alaska-auto": _ALASKA,
    "flight.Alaska-auto-medium": _ALASKA,
}
