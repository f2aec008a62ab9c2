// Draws an action over the screen on which it happened: ring, arrow, chevrons or text, with a halo.

const SVG = "http://www.w3.org/2000/svg";

function draw(svg, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  svg.append(element);
}

/** The same shape twice: white below, so that the mark shows on every screen. */
function drawOutlined(svg, name, attributes) {
  draw(svg, name, { class: "mark-halo", ...attributes });
  draw(svg, name, { class: "mark", ...attributes });
}

function ring(svg, x, y, radius) {
  drawOutlined(svg, "circle", { cx: x, cy: y, r: radius });
}

function dot(svg, x, y, radius) {
  draw(svg, "circle", { class: "mark-fill", cx: x, cy: y, r: radius });
}

function arrow(svg, fromX, fromY, toX, toY, size) {
  const angle = Math.atan2(toY - fromY, toX - fromX);
  const head = [0.55, -0.55].map((turn) => [toX - size * Math.cos(angle + turn), toY - size * Math.sin(angle + turn)]);
  const d = `M${fromX} ${fromY}L${toX} ${toY}M${head[0].join(" ")}L${toX} ${toY}L${head[1].join(" ")}`;
  drawOutlined(svg, "path", { d });
  dot(svg, fromX, fromY, size * 0.42);
}

const SCROLL = { down: [0, 1], up: [0, -1], right: [1, 0], left: [-1, 0] };

function chevrons(svg, x, y, direction, size) {
  const [dx, dy] = SCROLL[direction] ?? SCROLL.down;
  const path = [0, 1].map((n) => {
    const tipX = x + dx * size * (n + 0.5);
    const tipY = y + dy * size * (n + 0.5);
    const backX = tipX - dx * size * 0.7;
    const backY = tipY - dy * size * 0.7;
    return `M${backX - dy * size} ${backY - dx * size}L${tipX} ${tipY}L${backX + dy * size} ${backY + dx * size}`;
  });
  drawOutlined(svg, "path", { d: path.join("") });
}

/** Text at the place that had the focus, or at the foot of the screen; never beyond its edges. */
function caption(svg, text, focus, width, height, size) {
  const shown = text.length > 24 ? `${text.slice(0, 23)}…` : text;
  const half = shown.length * size * 0.3;
  const x = Math.min(Math.max(focus ? focus[0] : width / 2, half + 2), width - half - 2);
  const y = focus ? Math.min(Math.max(focus[1] + size * 0.36, size), height - 3) : height - size * 0.6;
  draw(svg, "text", { class: "mark-text", x, y, "font-size": size, "text-anchor": "middle" }, shown);
}

/**
 * @param {SVGSVGElement} svg the overlay, emptied first
 * @param {object|null} action as `action_to_dict` writes it; points are fractions of the screen
 * @param {[number, number]} size of the screen in pixels
 * @param {[number, number]|null} focus fractions: where the last pointed action was
 */
export function drawAction(svg, action, [width, height], focus = null) {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  if (!action) return;
  const unit = Math.max(width, height) / 210;
  const [x, y] = [action.x * width, action.y * height];
  const at = focus && [focus[0] * width, focus[1] * height];
  switch (action.kind) {
    case "click":
      ring(svg, x, y, 8 * unit);
      dot(svg, x, y, 1.4 * unit);
      break;
    case "double_click":
      ring(svg, x, y, 8 * unit);
      ring(svg, x, y, 4 * unit);
      break;
    case "right_click":
      ring(svg, x, y, 8 * unit);
      drawOutlined(svg, "path", { d: `M${x} ${y}h${4 * unit}v${-4 * unit}` });
      break;
    case "move":
      drawOutlined(svg, "path", { d: `M${x - 6 * unit} ${y}h${12 * unit}M${x} ${y - 6 * unit}v${12 * unit}` });
      break;
    case "drag":
      arrow(svg, x, y, action.to_x * width, action.to_y * height, 8 * unit);
      break;
    case "scroll":
      chevrons(svg, x, y, action.direction, 7 * unit);
      break;
    case "type":
      caption(svg, `“${action.text}”`, at, width, height, 11 * unit);
      break;
    case "key":
      caption(svg, `[${action.keys.join("+")}]`, at, width, height, 11 * unit);
      break;
    case "wait":
      caption(svg, `wait ${action.seconds} s`, null, width, height, 11 * unit);
      break;
    case "complete":
      caption(svg, "says: done", null, width, height, 11 * unit);
      break;
    case "fail":
      caption(svg, "says: cannot be done", null, width, height, 11 * unit);
      break;
  }
}

export const ICONS = {
  click: "i-pointer", double_click: "i-pointer", right_click: "i-pointer", move: "i-pointer", drag: "i-drag",
  scroll: "i-scroll", type: "i-type", key: "i-keyboard", wait: "i-clock", complete: "i-flag", fail: "i-flag",
};

const point = (x, y) => `(${x.toFixed(2)}, ${y.toFixed(2)})`;

/** The action in a few words: click (0.39, 0.43). */
export function describe(action) {
  if (!action) return "no action yet";
  switch (action.kind) {
    case "drag": return `drag ${point(action.x, action.y)} → ${point(action.to_x, action.to_y)}`;
    case "scroll": return `scroll ${action.direction} ${action.amount}`;
    case "type": return `type “${action.text}”`;
    case "key": return `key ${action.keys.join("+")}`;
    case "wait": return `wait ${action.seconds} s`;
    case "complete": return "says: done";
    case "fail": return "says: cannot be done";
    default: return `${action.kind.replace("_", " ")} ${point(action.x, action.y)}`;
  }
}

/** Where an action leaves the focus: its own point, or the one before. */
export function focusAfter(action, before) {
  return action && action.x !== undefined ? [action.x, action.y] : before;
}

for (const svg of document.querySelectorAll("[data-action]")) {
  const { action, size, focus } = JSON.parse(svg.dataset.action);
  drawAction(svg, action, size, focus);
}
