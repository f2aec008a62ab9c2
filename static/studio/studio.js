// Behaviour of the shell: theme switch, phone navigation, key bindings, dialogs, relative times.

const root = document.documentElement;

function showTheme() {
  const current = root.dataset.theme ?? "system";
  for (const button of document.querySelectorAll("[data-theme-set]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeSet === current));
  }
}

function chooseTheme(theme) {
  if (theme === "system") {
    delete root.dataset.theme;
    localStorage.removeItem("oche-theme");
  } else {
    root.dataset.theme = theme;
    localStorage.setItem("oche-theme", theme);
  }
  showTheme();
}

function toggleNavigation(opener) {
  const nav = document.querySelector(".nav");
  const isOpen = nav.classList.toggle("is-open");
  opener.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) nav.querySelector("a").focus();
}

function closeNavigation() {
  const nav = document.querySelector(".nav.is-open");
  if (!nav) return;
  nav.classList.remove("is-open");
  const opener = document.querySelector("[data-nav-open]");
  opener?.setAttribute("aria-expanded", "false");
  if (nav.contains(document.activeElement)) opener?.focus();
}

document.addEventListener("click", (event) => {
  const theme = event.target.closest("[data-theme-set]")?.dataset.themeSet;
  if (theme) chooseTheme(theme);
  const opener = event.target.closest("[data-nav-open]");
  if (opener) toggleNavigation(opener);
  else if (!event.target.closest(".nav")) closeNavigation();
  if (event.target.closest("[data-keys-open]")) document.querySelector("#keys")?.showModal();
  const dialog = event.target.closest("[data-dialog-open]")?.dataset.dialogOpen;
  if (dialog) document.getElementById(dialog)?.showModal();
  const copied = event.target.closest("[data-copy]");
  if (copied) copy(copied);
  event.target.closest("[data-toast-close]")?.closest(".toast").remove();
});

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    button.querySelector("[data-copy-label]").textContent = "Copied";
  } catch {
    // Without a secure context there is no clipboard; the text stays selected for ctrl c.
  }
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit-on-change]")) event.target.form.requestSubmit();
});

// A form sends once: a second click while the first is under way does nothing.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  else form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

const PLACES = { h: "/", r: "/runs/", t: "/tasks/", j: "/trajectories/", d: "/datasets/", c: "/cluster/", s: "/settings/tokens/" };
let awaitingPlace = false;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") closeNavigation();
  // While somebody types, no letter is a command.
  if (event.target.closest("input:not([type=range]), textarea, select, [contenteditable]")) return;
  if (awaitingPlace) {
    awaitingPlace = false;
    if (PLACES[event.key]) location.href = PLACES[event.key];
    event.stopImmediatePropagation();
    return;
  }
  if (event.key === "?") document.querySelector("#keys")?.showModal();
  else if (event.key === "g") {
    awaitingPlace = true;
    setTimeout(() => (awaitingPlace = false), 1500);
  } else if (event.key === "/") {
    const field = document.querySelector("[data-filter]");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select?.();
  }
}, { capture: true });

const STEPS = [[60, "s"], [3600, "min"], [86400, "h"], [Infinity, "days"]];
const SECONDS = { s: 1, min: 60, h: 3600, days: 86400 };

export function ago(seconds) {
  if (seconds < 2) return "just now";
  const unit = STEPS.find(([limit]) => seconds < limit)[1];
  const number = Math.floor(seconds / SECONDS[unit]);
  if (unit === "days" && number === 1) return "yesterday";
  return `${number} ${unit} ago`;
}

function showTimes() {
  if (document.hidden) return;
  for (const time of document.querySelectorAll("time[data-ago]")) {
    time.textContent = ago((Date.now() - Date.parse(time.dateTime)) / 1000);
  }
}

setInterval(showTimes, 5000);
document.addEventListener("visibilitychange", showTimes);
showTheme();
