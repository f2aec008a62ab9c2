// Draws the figures that Python describes and adds points as they come. Colours are named by
// role in the figures and looked up in tokens.css here, so that they follow the theme.

const CONFIG = {
  displayModeBar: false, displaylogo: false, responsive: true, scrollZoom: false, doubleClick: "reset", showTips: false,
};
const REDRAW_EVERY_MS = 400;

function loadPlotly(url) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error(`${url} did not load`)));
    document.head.append(script);
  });
}

function resolveRoles(value, style) {
  if (typeof value === "string") return value.startsWith("--") ? style.getPropertyValue(value).trim() : value;
  if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map((one) => resolveRoles(one, style));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolveRoles(one, style)]));
  }
  return value;
}

/** As `training.charts.format_value` writes it. */
export function formatValue(value, format) {
  if (value == null) return "none yet";
  if (format === "percent") return `${(value * 100).toFixed(1)} %`;
  if (format === "count") return Math.round(value).toLocaleString("en");
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(3);
}

class Chart {
  constructor(element, description) {
    this.element = element;
    this.traces = description.traces;
    this.layout = description.layout;
    this.format = description.format;
    this.title = description.title;
    this.axis = "step";
    this.isInSight = false;
    this.isDirty = true;
    this.card = element.closest("[data-chart-card]");
    this.card.addEventListener("click", (event) => {
      const name = event.target.closest("[data-series]")?.dataset.series;
      if (name) this.toggle(name, event.target.closest("[data-series]"));
    });
  }

  get isEmpty() {
    return this.traces.every((trace) => trace.steps.length === 0);
  }

  toggle(name, button) {
    const isHidden = button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(!isHidden));
    for (const trace of this.traces) if (trace.series === name) trace.isHidden = isHidden;
    this.isDirty = true;
  }

  add(row) {
    for (const trace of this.traces) {
      const value = row.values[trace.metric];
      if (value == null) continue;
      const place = this.makeRoom(trace, row);
      const before = trace.values[place - 1];
      const smooth = trace.smoothing;
      trace.steps.splice(place, 0, row.step);
      trace.times.splice(place, 0, row.at);
      trace.values.splice(place, 0, smooth && before != null ? smooth * before + (1 - smooth) * value : value);
      this.isDirty = true;
      if (trace.isHeadline) this.say(value);
    }
  }

  /**
   * A resumed run measures steps again: what it measures now counts, and what was beyond is gone.
   * Evaluations of older versions may end late; each stands at its step.
   */
  makeRoom(trace, row) {
    const found = trace.steps.findIndex((step) => step >= row.step);
    const place = found < 0 ? trace.steps.length : found;
    const isEvaluation = row.source === "evaluation";
    const numGone = isEvaluation ? Number(trace.steps[place] === row.step) : trace.steps.length - place;
    for (const column of [trace.steps, trace.times, trace.values]) column.splice(place, numGone);
    return place;
  }

  say(value) {
    this.card.querySelector("[data-chart-last]").textContent = formatValue(value, this.format);
    const line = this.traces.find((trace) => trace.isHeadline);
    const [first, last] = [line.values[0], line.values.at(-1)].map((one) => formatValue(one, this.format));
    this.element.setAttribute("aria-label", `${this.title} goes from ${first} to ${last} over optimizer steps ${line.steps[0]} to ${line.steps.at(-1)}`);
  }

  draw(Plotly) {
    if (!this.isDirty || !this.isInSight || this.isEmpty || document.hidden) return;
    this.isDirty = false;
    this.card.querySelector(".plot-wait")?.remove();
    const style = getComputedStyle(document.documentElement);
    const data = this.traces.map((trace) => ({
      ...resolveRoles(trace.look, style),
      x: this.axis === "step" ? trace.steps.slice() : trace.times.slice(),
      y: trace.values.slice(),
      visible: !trace.isHidden,
      cliponaxis: false,
      mode: trace.steps.length < 30 && trace.isMarked ? "lines+markers" : "lines",
    }));
    const layout = resolveRoles(this.layout, style);
    layout.xaxis.type = this.axis === "step" ? "linear" : "date";
    if (this.axis === "step") {
      layout.xaxis.rangemode = "nonnegative";
      // There is no half an optimizer step.
      if (Math.max(...this.traces.map((trace) => trace.steps.at(-1) ?? 0)) < 6) layout.xaxis.dtick = 1;
    }
    layout.xaxis.title.text = this.axis === "step" ? this.layout.xaxis.title.text : "";
    if (this.axis === "time") layout.xaxis.unifiedhovertitle.text = "%{x|%H:%M:%S}";
    layout.uirevision = this.axis;
    Plotly.react(this.element, data, layout, CONFIG);
  }
}

export class Charts {
  constructor(holder) {
    const described = JSON.parse(document.getElementById("chart-data").textContent);
    this.seq = described.seq;
    this.url = holder.dataset.metrics;
    this.isCatchingUp = false;
    this.isAskedAgain = false;
    this.charts = [...holder.querySelectorAll("[data-chart]")].map((element) => new Chart(element, described.charts[element.dataset.chart]));
    this.watchTheme();
    this.watchAxis(holder);
    const sight = new IntersectionObserver((entries) => entries.forEach((entry) => {
      this.charts.find((chart) => chart.element === entry.target).isInSight = entry.isIntersecting;
    }), { rootMargin: "200px" });
    this.charts.forEach((chart) => sight.observe(chart.element));
    loadPlotly(holder.dataset.plotly).then((Plotly) => setInterval(() => this.charts.forEach((chart) => chart.draw(Plotly)), REDRAW_EVERY_MS));
  }

  redraw() {
    this.charts.forEach((chart) => (chart.isDirty = true));
  }

  watchTheme() {
    new MutationObserver(() => this.redraw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  watchAxis(holder) {
    holder.addEventListener("click", (event) => {
      const button = event.target.closest("[data-axis]");
      if (!button) return;
      for (const one of button.parentElement.children) one.setAttribute("aria-pressed", String(one === button));
      this.charts.forEach((chart) => (chart.axis = button.dataset.axis));
      this.redraw();
    });
  }

  /** Fetches every point after the newest that is drawn; a page that slept misses nothing. */
  async catchUp() {
    if (this.isCatchingUp) {
      this.isAskedAgain = true;
      return;
    }
    this.isCatchingUp = true;
    try {
      for (let rows = await this.fetchRows(); rows.length; rows = await this.fetchRows()) {
        for (const row of rows) {
          this.seq = Math.max(this.seq, row.seq);
          this.charts.forEach((chart) => chart.add(row));
        }
      }
    } catch {
      // The next event, or the next attachment, asks again from the same number.
    }
    this.isCatchingUp = false;
    if (this.isAskedAgain) {
      this.isAskedAgain = false;
      this.catchUp();
    }
  }

  async fetchRows() {
    const response = await fetch(`${this.url}?after=${this.seq}`, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(response.statusText);
    return (await response.json()).rows;
  }
}
