"""How experts count, calculate, search and guess."""

from typing import Final

from agents.policies.experts.clicking import SHAPES

EXPERTS: Final[dict[str, str]] = {
    "count-shape": (
        f"(() => {{ {SHAPES} const found = matching(/How many (.*)s are/.exec(q)[1]);"
        " return click(byText('#count-buttons button', String(found.length))); })()"
    ),
    # The outline's distance from the middle swings once for each side.
    "count-sides": r"""(() => {
        const canvas = one('#c');
        const {width, height} = canvas;
        const {data} = canvas.getContext('2d').getImageData(0, 0, width, height);
        const far = new Array(90).fill(0);
        for (let y = 0; y < height; y++) {
          for (let x = 0; x < width; x++) {
            if (data[4 * (y * width + x) + 3] < 128) continue;
            const [dx, dy] = [x + 0.5 - 75, y + 0.5 - 50];
            const angle = Math.floor((Math.atan2(dy, dx) / Math.PI + 1) * 45) % 90;
            far[angle] = Math.max(far[angle], Math.hypot(dx, dy));
          }
        }
        const swing = (n) => Math.hypot(
          ...[Math.cos, Math.sin].map((f) => far.reduce(
            (sum, r, i) => sum + r * f(n * i * Math.PI / 45), 0)));
        const sides = [3, 4, 5, 6, 7].reduce((a, b) => (swing(b) > swing(a) ? b : a));
        return click(one(`#form button[data-sides="${sides}"]`));
    })()""",
    "find-greatest": r"""(() => {
        const cards = all('#cardholder .card');
        const open = cards.findIndex((e) => !e.classList.contains('hidden'));
        notes.seen = notes.seen || {};
        if (open >= 0) notes.seen[open] = Number(text(cards[open]));
        const unseen = cards.findIndex((_, i) => !(i in notes.seen));
        if (unseen >= 0) return click(cards[unseen]);
        const best = cards.findIndex(
          (_, i) => notes.seen[i] === Math.max(...Object.values(notes.seen)));
        return click(open === best ? one('#submit') : cards[best]);
    })()""",
    "generate-number": r"""(() => {
        const number = Number(text(one('#display-number')));
        const bound = /(less|greater) than (\d+)/.exec(q);
        const isRight = Number.isInteger(number) && (bound
          ? (bound[1] === 'less' ? number < Number(bound[2]) : number > Number(bound[2]))
          : number % 2 === (/odd/.test(q) ? 1 : 0));
        return click(one(isRight ? '#submit' : '#generate'));
    })()""",
    "guess-number": r"""(() => {
        const field = one('#tt');
        notes.low = notes.low || 0;
        notes.high = 'high' in notes ? notes.high : 9;
        const told = (id) => (isShown(one(id)) ? Number(text(one(id + ' span'))) : null);
        const [higher, lower] = [told('#higher'), told('#lower')];
        if (higher !== null) notes.low = Math.max(notes.low, higher + 1);
        if (lower !== null) notes.high = Math.min(notes.high, lower - 1);
        const guess = String(Math.floor((notes.low + notes.high) / 2));
        if (field.value === guess) return submit();
        if (document.activeElement !== field) return click(field);
        if (field.value === '' || notes.isMarked === field.value) return type(field, guess);
        notes.isMarked = field.value;
        return press(field, 'Control', 'a');
    })()""",
    # What the signal says at one point rules out most of the others.
    "hot-cold": r"""(() => {
        const area = one('#touch-area');
        const zone = (d) => (d < 5 ? 'HOT' : d < 10 ? 'WARM' : d < 40 ? 'COLD' : 'ICE COLD');
        const signal = text(one('#display'));
        notes.seen = notes.seen || [];
        if (notes.at && signal) notes.seen.push({...notes.at, signal});
        const point = (kind) => ({kind, x: notes.at.x + 0.5, y: notes.at.y + 50.5, box: boxOf(area)});
        if (notes.at && signal === 'HOT') return point('click');
        const left = [];
        for (let x = 5; x < 155; x++) {
          for (let y = 5; y < 120; y++) {
            if (notes.seen.every((p) => zone(Math.hypot(x - p.x, y - p.y)) === p.signal)) {
              left.push({x, y});
            }
          }
        }
        // Around the middle of what is left; of a ring, the nearest part of it.
        const mean = (key) => left.reduce((sum, p) => sum + p[key], 0) / left.length;
        const [x, y] = notes.seen.length ? [mean('x'), mean('y')] : [40, 60];
        const away = (p) => Math.hypot(p.x - x, p.y - y);
        notes.at = left.reduce((a, b) => (away(b) < away(a) ? b : a));
        return point('move');
    })()""",
    "identify-shape": r"""(() => {
        const shape = one('#area_svg > *');
        const kind = {rect: 'rectangle', circle: 'circle', polygon: 'triangle'}[shape.tagName]
          || (/\d/.test(text(shape)) ? 'digit' : 'letter');
        return click(one(`#area-buttons [data-type=${kind}]`));
    })()""",
    "simple-algebra": r"""(() => {
        const [, a, sign, b, sum] = /(\w+) ([-+]) (\w+) = (-?\d+)/.exec(text(one('#math-problem')));
        const x = sign === '+' ? Number(sum) - Number(a === 'x' ? b : a)
          : a === 'x' ? Number(sum) + Number(b) : Number(a) - Number(sum);
        return fill(one('#math-answer'), String(x)) || submit();
    })()""",
    "simple-arithmetic": r"""(() => {
        const [, a, sign, b] = /(\d+) ([-+x]) (\d+)/.exec(text(one('#math-problem')));
        const value = {'+': +a + +b, '-': a - b, x: a * b}[sign];
        return fill(one('#math-answer'), String(value)) || submit();
    })()""",
    "visual-addition": (
        "fill(one('#math-answer'), String(all('.addition-block').length)) || submit()"
    ),
}
