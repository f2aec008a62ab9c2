// Steps through a trajectory. Every step is rendered by the server as a <template>; this file
// only chooses which is shown, and draws its action over the screen.

import { drawAction } from "./marks.js";

const replay = document.querySelector("[data-replay]");
const numSteps = Number(replay.dataset.steps);
const image = replay.querySelector("[data-screen-image]");
const overlay = replay.querySelector("[data-overlay-target]");
const card = replay.querySelector("[data-step-card]");
const foot = document.querySelector("[data-step-foot]");
const scrub = replay.querySelector("[data-scrub]");
const playButton = replay.querySelector('[data-go="play"]');
const speed = replay.querySelector("[data-speed]");
const SECONDS_PER_STEP = 1.2;
let timer = null;
let isAfter = false;
let colouring = "entropy";

const current = () => Number(replay.dataset.step);
const template = (number) => document.getElementById(`step-${number}-card`);

function showScreen() {
  const step = template(current());
  const { action, size, focus } = JSON.parse(step.dataset.marks);
  image.src = isAfter ? step.dataset.after : step.dataset.before;
  image.alt = `Screen ${isAfter ? "after" : "before"} step ${current()}`;
  drawAction(overlay, isAfter ? null : action, size, focus);
  for (const button of replay.querySelectorAll("[data-when]")) {
    button.setAttribute("aria-pressed", String((button.dataset.when === "after") === isAfter));
  }
}

function showColouring() {
  for (const token of replay.querySelectorAll(".token")) {
    token.classList.remove(...[...token.classList].filter((name) => name.startsWith("seq-")));
    token.classList.add(`seq-${token.dataset[colouring]}`);
  }
  for (const button of replay.querySelectorAll("[data-colour]")) {
    button.setAttribute("aria-pressed", String(button.dataset.colour === colouring));
  }
  for (const scale of replay.querySelectorAll("[data-scale]")) scale.hidden = scale.dataset.scale !== colouring;
}

function centre(frame) {
  const film = frame.parentElement;
  film.scrollLeft = frame.offsetLeft - film.offsetLeft - film.clientWidth / 2 + frame.clientWidth / 2;
}

function show(step, { remember = true } = {}) {
  const number = Math.min(Math.max(step, 1), numSteps);
  replay.dataset.step = number;
  const fragment = template(number).content.cloneNode(true);
  const below = fragment.querySelector("[data-below]");
  foot.replaceChildren(...below.childNodes);
  below.remove();
  card.replaceChildren(fragment);
  replay.querySelector("[data-step-number]").textContent = number;
  scrub.value = number;
  for (const frame of replay.querySelectorAll(".frame")) {
    if (Number(frame.dataset.step) === number) {
      frame.setAttribute("aria-current", "step");
      centre(frame);
    } else frame.removeAttribute("aria-current");
  }
  showScreen();
  showColouring();
  // The address names the step; stepping does not fill the history.
  if (remember) history.replaceState(null, "", `#step-${number}`);
  if (number === numSteps) pause();
}

function pause() {
  clearInterval(timer);
  timer = null;
  playButton.setAttribute("aria-pressed", "false");
  playButton.setAttribute("aria-label", "Play");
  playButton.querySelector("use").setAttribute("href", "#i-play");
}

function play() {
  isAfter = false;
  if (current() === numSteps) show(1);
  clearInterval(timer);
  timer = setInterval(() => show(current() + 1), (SECONDS_PER_STEP * 1000) / Number(speed.value));
  playButton.setAttribute("aria-pressed", "true");
  playButton.setAttribute("aria-label", "Pause");
  playButton.querySelector("use").setAttribute("href", "#i-pause");
}

const GO = {
  first: () => show(1),
  prev: () => show(current() - 1),
  next: () => show(current() + 1),
  last: () => show(numSteps),
  play: () => (timer ? pause() : play()),
};

replay.addEventListener("click", (event) => {
  const go = event.target.closest("[data-go]")?.dataset.go;
  if (go) GO[go]();
  const when = event.target.closest("[data-when]")?.dataset.when;
  if (when) {
    isAfter = when === "after";
    showScreen();
  }
  const colour = event.target.closest("[data-colour]")?.dataset.colour;
  if (colour) {
    colouring = colour;
    showColouring();
  }
  const frame = event.target.closest(".frame");
  if (frame) {
    event.preventDefault();
    show(Number(frame.dataset.step));
  }
});

scrub.addEventListener("input", () => show(Number(scrub.value)));
speed.addEventListener("change", () => timer && play());

const KEYS = { ArrowLeft: "prev", ArrowRight: "next", Home: "first", End: "last", " ": "play" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input:not([type=range]), select, textarea")) return;
  // On a button or link, space does what it does everywhere.
  if (event.key === " " && event.target.closest("button, a, summary")) return;
  if (KEYS[event.key]) {
    event.preventDefault();
    GO[KEYS[event.key]]();
  } else if (/^[1-4]$/.test(event.key)) {
    speed.selectedIndex = Number(event.key) - 1;
    if (timer) play();
  } else if (event.key === "j" || event.key === "k") {
    document.querySelector(`[data-neighbour=${event.key}]`)?.click();
  }
});

function openAddressed() {
  const step = /^#step-(\d+)$/.exec(location.hash);
  if (step) show(Number(step[1]), { remember: false });
}

window.addEventListener("hashchange", openAddressed);
show(current(), { remember: false });
openAddressed();
