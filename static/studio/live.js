// The wall of live screens. Frames are dropped, never queued; a hidden tab asks for none.

import { describe, drawAction, focusAfter, ICONS } from "./marks.js";
import { freshness } from "./socket.js";

const READ_EVERY_MS = 2000; // Without events, too: it keeps the run watched, so that screens are drawn.
const SHORTEST_GAP_MS = 250;
const TIMEOUT_MS = 10000;
const OLD_AFTER_S = 8;
const STATES = {
  reset: ["i-sync", "Reset"], model: ["i-clock", "Model"], evaluating: ["i-eval", "Evaluating"], idle: ["i-draft", "Idle"],
};

class Tile {
  constructor(slot, template, label) {
    this.slot = slot;
    this.element = template.content.firstElementChild.cloneNode(true);
    this.element.querySelector("[data-slot]").textContent = label;
    this.image = this.element.querySelector("img");
    this.svg = this.element.querySelector(".overlay");
    this.seq = null;
    this.trajectory = null;
    this.focus = null;
    this.at = null;
    this.isInSight = true;
  }

  part(name) {
    return this.element.querySelector(`[data-part=${name}]`);
  }

  write(name, text) {
    const part = this.part(name);
    if (part.textContent !== text) part.textContent = text;
    if (part.classList.contains("truncate")) part.title = text;
  }

  show(board) {
    if (board.trajectory_id !== this.trajectory) {
      this.trajectory = board.trajectory_id;
      this.focus = null;
    }
    this.at = board.at;
    const task = board.task?.split("/").pop() ?? "idle";
    this.write("task", task);
    const link = this.part("task");
    if (this.trajectory) link.href = `/trajectories/${this.trajectory}/`;
    else link.removeAttribute("href");
    this.element.setAttribute("aria-label", `Slot ${this.slot}, ${task}`);
    this.image.alt = `Screen of slot ${this.slot}: ${board.instruction ?? task}`;
    this.write("instruction", board.instruction ?? "");
    const [icon, word] = STATES[board.state] ?? [];
    this.part("state").hidden = !word;
    if (word) {
      this.part("state").querySelector("use").setAttribute("href", `#${icon}`);
      this.write("state-word", word);
    }
    this.element.querySelector(".caption-bar use").setAttribute("href", `#${ICONS[board.action?.kind] ?? "i-clock"}`);
    this.write("action", describe(board.action));
    this.write("step", board.max_steps ? `step ${board.step} / ${board.max_steps}` : "");
    this.write("version", board.version == null ? "" : `v${board.version}`);
    this.write("kind", board.evaluation_id ? "held-out" : "");
    drawAction(this.svg, board.action, board.screen_size ?? [160, 210], this.focus);
    this.focus = focusAfter(board.action, this.focus);
    if (!board.frame) {
      // Marks without the screen that they belong to would mean nothing.
      this.svg.toggleAttribute("hidden", this.image.hidden);
      return;
    }
    this.svg.removeAttribute("hidden");
    this.seq = board.seq;
    this.image.src = `data:image/webp;base64,${board.frame}`;
    this.image.hidden = false;
    this.part("waiting").hidden = true;
  }

  /** What the page tells the server of this screen: the frame that it has, if it is looked at. */
  get seen() {
    return this.isInSight ? (this.seq ?? "none") : "-";
  }

  showAge(skew) {
    if (this.at == null) return;
    const age = Math.max(0, Date.now() / 1000 - skew - this.at);
    this.image.classList.toggle("is-old", age > OLD_AFTER_S);
    this.write("age", `${age < 10 ? age.toFixed(1) : Math.round(age)} s${age > OLD_AFTER_S ? " old" : ""}`);
  }
}

export class Wall {
  constructor(element) {
    this.element = element;
    this.template = document.getElementById("tile");
    this.empty = document.querySelector("[data-wall-empty]");
    this.count = document.querySelector("[data-wall-count]");
    this.tiles = new Map();
    this.timer = null;
    this.isReading = false;
    this.isAskedAgain = false;
    this.gapMs = SHORTEST_GAP_MS;
    this.endedAt = -Infinity;
    this.skew = 0;
    this.sight = new IntersectionObserver((entries) => entries.forEach((entry) => this.see(entry)));
    element.addEventListener("keydown", (event) => this.onKey(event));
    element.addEventListener("click", (event) => event.target.closest("[data-enlarge]") && this.enlarge(event.target.closest(".tile")));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.enlarge(null));
    document.addEventListener("visibilitychange", () => this.readSoon());
    setInterval(() => this.readSoon(), READ_EVERY_MS);
    setInterval(() => document.hidden || this.tiles.forEach((tile) => tile.showAge(this.skew)), 250);
    this.readSoon();
  }

  see(entry) {
    const tile = [...this.tiles.values()].find((one) => one.element === entry.target);
    if (!tile) return;
    tile.isInSight = entry.isIntersecting;
    if (tile.isInSight) this.readSoon();
  }

  /** Reads all screens at once, soon; wishes in between are one wish, so nothing ever queues. */
  readSoon() {
    if (document.hidden || this.timer) return;
    if (this.isReading) this.isAskedAgain = true;
    else this.timer = setTimeout(() => this.read(), Math.max(0, this.endedAt + this.gapMs - performance.now()));
  }

  async read() {
    this.timer = null;
    this.isReading = true;
    const startedAt = performance.now();
    const boards = await this.fetchBoards().catch(() => null);
    this.isReading = false;
    this.endedAt = performance.now();
    // Watching must not slow the rollouts down: a busy server is asked less often.
    this.gapMs = Math.max(SHORTEST_GAP_MS, 2 * (this.endedAt - startedAt));
    if (boards) {
      this.show(boards);
      if (this.hasFailed) freshness.heard();
    } else freshness.lost();
    this.hasFailed = !boards;
    if (this.isAskedAgain) {
      this.isAskedAgain = false;
      this.readSoon();
    }
  }

  async fetchBoards() {
    const seen = new URLSearchParams([...this.tiles].map(([slot, tile]) => [slot, tile.seen]));
    const response = await fetch(`${this.element.dataset.wall}?${seen}`, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(response.statusText);
    const told = Date.parse(response.headers.get("Date"));
    // The server's clock counts; its header has whole seconds, so small differences are none.
    this.skew = Math.abs(Date.now() - told) > 2000 ? (Date.now() - told) / 1000 : 0;
    return (await response.json()).slots;
  }

  show(boards) {
    const slots = new Set(boards.map((board) => board.slot));
    for (const [slot, tile] of this.tiles) {
      if (slots.has(slot)) continue;
      this.sight.unobserve(tile.element);
      tile.element.remove();
      this.tiles.delete(slot);
    }
    boards.sort((a, b) => a.slot.localeCompare(b.slot, undefined, { numeric: true }));
    boards.forEach((board, place) => {
      if (!this.tiles.has(board.slot)) this.add(board.slot, place);
      this.tiles.get(board.slot).show(board);
    });
    this.empty.hidden = boards.length > 0;
    if (this.count) this.count.textContent = boards.length;
  }

  add(slot, place) {
    const tile = new Tile(slot, this.template, String(place).padStart(2, "0"));
    this.tiles.set(slot, tile);
    this.element.append(tile.element);
    this.sight.observe(tile.element);
  }

  enlarge(element) {
    const open = this.element.querySelector(".is-enlarged");
    open?.classList.remove("is-enlarged");
    if (element && element !== open) element.classList.add("is-enlarged");
  }

  onKey(event) {
    const tile = event.target.closest(".tile");
    if (!tile || event.target.closest("a, button")) return;
    const tiles = [...this.element.children];
    const perRow = tiles.filter((one) => one.offsetTop === tiles[0].offsetTop).length;
    const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perRow, ArrowUp: -perRow };
    if (event.key === "Enter") this.enlarge(tile);
    else if (moves[event.key]) tiles[tiles.indexOf(tile) + moves[event.key]]?.focus();
    else return;
    event.preventDefault();
  }
}
