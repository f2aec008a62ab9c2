// Freshens the marked regions of a page: fetches them from the server and swaps them by id.
//
// A page names its source once: <main data-pulse="/runs/<id>/pulse/" data-pulse-every="15">; the
// answer is HTML whose top elements carry the ids of the regions on the page.

import { freshness } from "./socket.js";

const source = document.querySelector("[data-pulse]");
const SHORTEST_MS = 2000;
let gapMs = SHORTEST_MS;
let lastAt = 0;
let timer = null;
let isUnderWay = false;
let hasFailed = false;

function swap(region) {
  const old = document.getElementById(region.id);
  if (!old || old.outerHTML === region.outerHTML) return;
  // An open menu or a focused control must not vanish under the reader's hands.
  const focused = old.contains(document.activeElement) ? document.activeElement.id : null;
  if (focused === "") return;
  old.replaceWith(region);
  if (focused) document.getElementById(focused)?.focus();
}

async function refresh() {
  if (document.hidden || isUnderWay) return;
  isUnderWay = true;
  lastAt = Date.now();
  try {
    const response = await fetch(source.dataset.pulse, { headers: { Accept: "text/html" }, redirect: "error", signal: AbortSignal.timeout(10000) });
    if (!response.ok) throw new Error(response.statusText);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const region of [...page.body.children]) swap(region);
    // A page with a socket hears by that; but what this one called lost, it also calls found.
    if (hasFailed || !("socket" in source.dataset)) freshness.heard();
    hasFailed = false;
    document.dispatchEvent(new CustomEvent("oche:pulse"));
  } catch {
    hasFailed = true;
    freshness.lost();
  } finally {
    isUnderWay = false;
    // A page that is costly to make is made less often: at most a twentieth of the time.
    gapMs = Math.max(SHORTEST_MS, 20 * (Date.now() - lastAt));
  }
}

/** Freshens soon, at most once in a while however often it is asked. */
export function pulse() {
  if (timer || !source) return;
  const wait = Math.max(0, lastAt + gapMs - Date.now());
  timer = setTimeout(() => {
    timer = null;
    refresh();
  }, wait);
}

if (source) {
  setInterval(pulse, Number(source.dataset.pulseEvery) * 1000);
  document.addEventListener("visibilitychange", () => document.hidden || pulse());
}
