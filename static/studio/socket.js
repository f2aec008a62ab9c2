// One live line to the server: reconnects with back-off, and says how fresh the page is.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15000;
const STEADY_AFTER_MS = 5000;
const STALE_AFTER_MS = 12000;

export class LiveLine {
  /**
   * @param {string} path of the socket, such as /ws/runs/<id>/
   * @param {(event: object) => void} onEvent hears each event
   * @param {() => void} onOpen runs at every attachment, to catch up on what was missed
   */
  constructor(path, { onEvent, onOpen }) {
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
    this.onEvent = onEvent;
    this.onOpen = onOpen;
    this.waitMs = FIRST_WAIT_MS;
    this.socket = null;
    this.timer = null;
    this.openedAt = 0;
    document.addEventListener("visibilitychange", () => !document.hidden && this.attachSoon(0));
    window.addEventListener("online", () => this.attachSoon(0));
    this.attach();
  }

  attach() {
    clearTimeout(this.timer);
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    this.socket = new WebSocket(this.url);
    this.socket.addEventListener("open", () => {
      this.openedAt = Date.now();
      freshness.heard();
      this.onOpen();
    });
    this.socket.addEventListener("message", (message) => {
      freshness.heard();
      this.onEvent(JSON.parse(message.data));
    });
    this.socket.addEventListener("close", (event) => {
      freshness.lost();
      // A line that breaks as soon as it stands must not be tried in a storm.
      if (this.openedAt && Date.now() - this.openedAt > STEADY_AFTER_MS) this.waitMs = FIRST_WAIT_MS;
      this.openedAt = 0;
      // 4401 and 4404: signed out, or no such run for this person. Asking again is in vain.
      if (event.code === 4401 || event.code === 4404) return;
      this.attachSoon(this.waitMs * (0.75 + Math.random() / 2));
      this.waitMs = Math.min(this.waitMs * 2, LONGEST_WAIT_MS);
    });
  }

  attachSoon(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.attach(), milliseconds);
  }
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });

export const freshness = {
  at: Date.now(),
  isLost: false,

  heard() {
    this.at = Date.now();
    this.isLost = false;
    this.show();
  },

  lost() {
    this.isLost = true;
    this.show();
  },

  /** A run that is over says nothing any more; silence is then no reason to worry. */
  show() {
    const label = document.querySelector("[data-freshness]");
    if (!label) return;
    const age = (Date.now() - this.at) / 1000;
    const isQuiet = "quiet" in label.dataset;
    const isStale = this.isLost || (!isQuiet && age * 1000 > STALE_AFTER_MS);
    label.classList.toggle("is-stale", isStale);
    label.querySelector("[data-freshness-text]").textContent = isStale
      ? `Stale since ${CLOCK.format(this.at)}`
      : isQuiet ? "Live" : `Live · ${age < 10 ? age.toFixed(1) : Math.round(age)} s`;
    label.title = isStale
      ? `Nothing was heard from the server for ${Math.round(age)} s; the page keeps trying`
      : `The page hears the server; the last message came ${age.toFixed(1)} s ago`;
  },
};

setInterval(() => document.hidden || freshness.show(), 500);
