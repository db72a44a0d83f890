"use strict";
// Line charts on a canvas: zoomed by dragging, hovered, and worked by keys, with what is under the cursor read out.

const SECOND = 1e3, MINUTE = 6e4, HOUR = 36e5, DAY = 864e5;
const CLOCK_STEPS = [1, 5, 15, 30].map((n) => n * SECOND).concat([1, 5, 15, 30].map((n) => n * MINUTE),
  [1, 3, 6, 12].map((n) => n * HOUR), [1, 2, 7, 14].map((n) => n * DAY));
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
const COLOURS = 7;
const MARGIN = { left: 64, right: 36, top: 10, bottom: 26 };

/** An element with attributes; children that are texts are set as text. */
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};

const digits = (value) => {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(3);
  const whole = size === 0 ? 0 : Math.floor(Math.log10(size));
  return value.toFixed(Math.min(Math.max(3 - whole, 0), 7));
};

/** A place on the axis in words: a time of a civil clock as 2024-01-31 13:45, a step as its number. */
const placeText = (kind, x) => {
  if (kind !== "time" || Math.abs(x) > 8.64e15) return String(x);
  return new Date(x).toISOString().replace("T", " ").replace(/(:00)?\.000Z$/, "").replace("Z", "").replace(/ 00:00$/, "");
};

const roundStep = (span, most) => {
  const rough = span / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((digit) => digit * power >= rough * 0.999);
};

const numberTicks = (low, high, most, whole) => {
  const step = whole ? Math.max(1, roundStep(high - low, most)) : roundStep(high - low, most);
  const ticks = [];
  for (let n = Math.ceil(low / step); n * step <= high && ticks.length < 99; n++) ticks.push(n * step);
  const power = Math.floor(Math.log10(step)), decimals = Math.min(Math.max(-power, 0), 12);
  const text = (value) => {
    if (Math.abs(value) < 1e7 && step >= 1e-6) return value.toFixed(decimals);
    // As many digits as tell neighbours apart.
    return value === 0 ? "0" : value.toExponential(Math.min(Math.max(Math.floor(Math.log10(Math.abs(value))) - power, 0), 15));
  };
  return ticks.map((value) => [value, text(value)]);
};

/** Times that a calendar marks. */
const timeTicks = (low, high, most) => {
  const clock = CLOCK_STEPS.find((step) => (high - low) / step <= most);
  if (clock) {
    const ticks = [];
    for (let n = Math.ceil(low / clock); n * clock <= high; n++) ticks.push(n * clock);
    const label = (time) => {
      const [day, hour] = new Date(time).toISOString().split("T");
      return time % DAY === 0 ? day : hour.slice(0, clock < MINUTE ? 8 : 5);
    };
    return ticks.map((time) => [time, label(time)]);
  }
  const months = MONTH_STEPS.find((n) => (high - low) / (n * 30.4 * DAY) <= most) || 12000;
  const first = new Date(low), ticks = [];
  const start = Math.ceil(((first.getUTCFullYear() - 1970) * 12 + first.getUTCMonth()) / months);
  for (let n = start; ticks.length < 99; n++) {
    const time = Date.UTC(1970, n * months);
    if (!(time <= high)) break;
    if (time >= low) ticks.push([time, new Date(time).toISOString().slice(0, months % 12 ? 7 : 4)]);
  }
  return ticks;
};

/** The first place in a line whose x is not below this. */
const firstFrom = (points, x) => {
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < x) low = middle + 1; else high = middle;
  }
  return low;
};

/** The parts of a line or band between its missing values. */
const pieces = (points) => {
  const parts = [[]];
  for (const point of points) {
    if (point.every(Number.isFinite)) parts[parts.length - 1].push(point);
    else if (parts[parts.length - 1].length) parts.push([]);
  }
  return parts.filter((part) => part.length);
};

/** Draws parts of a line; one of a single value is a dot, of those of a pixel one. */
const drawLine = (pen, parts, toX, toY) => {
  pen.beginPath();
  for (const part of parts) {
    if (part.length > 1) part.forEach(([x, y], i) => (i ? pen.lineTo(toX(x), toY(y)) : pen.moveTo(toX(x), toY(y))));
  }
  pen.stroke();
  pen.fillStyle = pen.strokeStyle;
  pen.beginPath();
  const drawn = new Set();
  for (const [[x, y], ...others] of parts) {
    const at = [toX(x), toY(y)], pixel = Math.round(at[0]) * 65536 + Math.round(at[1]);
    if (others.length || drawn.has(pixel)) continue;
    drawn.add(pixel);
    pen.moveTo(at[0] + pen.lineWidth, at[1]);
    pen.arc(...at, pen.lineWidth, 0, 2 * Math.PI);
  }
  pen.fill();
};

/** Fills parts of a band; one of a single step is a bar. */
const drawBand = (pen, parts, toX, toY) => {
  pen.strokeStyle = pen.fillStyle;
  pen.lineWidth = 5;
  for (const part of parts) {
    pen.beginPath();
    part.forEach(([x, , high]) => pen.lineTo(toX(x), toY(high)));
    [...part].reverse().forEach(([x, low]) => pen.lineTo(toX(x), toY(low)));
    if (part.length === 1) pen.stroke(); else pen.fill();
  }
};

class Chart {
  /** An empty chart in `host`; `label` says what it shows. */
  constructor(host, label) {
    this.label = label;
    this.hidden = new Set();
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.plot = element("div", {
      class: "plot", tabindex: "0", role: "application", "aria-roledescription": "chart",
      onkeydown: (event) => this.key(event),
      onpointerdown: (event) => this.press(event),
      onpointermove: (event) => this.move(event),
      onpointerup: (event) => this.release(event),
      onpointerleave: () => { if (this.drag === null) this.at(null); },
      ondblclick: () => this.zoom(null),
    }, this.canvas);
    this.readout = element("output", { class: "readout", "aria-live": "polite" });
    this.legend = element("div", { class: "controls", role: "group", "aria-label": "Lines shown" });
    const button = (text, act) => element("button", { type: "button", onclick: act }, text);
    this.away = [button("Zoom out", () => this.scale(2)), button("Earlier", () => this.shift(-0.5)),
      button("Later", () => this.shift(0.5)), button("All", () => this.zoom(null))];
    host.replaceChildren(this.legend, this.plot, this.readout, element("div", { class: "controls" },
      button("Zoom in", () => this.scale(0.5)), ...this.away));
    this.drag = null;
    this.cursor = null;
    new ResizeObserver(() => this.draw()).observe(this.plot);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Shows lines `{name, colour, points: [[x, y]]}` and bands `{name, of, colour, points: [[x, low, high]]}`. */
  show({ title, kind, lines, bands }) {
    Object.assign(this, { kind, lines, bands, cursor: null });
    this.xs = [...new Set(lines.flatMap((line) => line.points.map(([x]) => x)))].sort((a, b) => a - b);
    const keys = "Arrow keys go from value to value, plus and minus zoom, 0 shows all.";
    this.plot.setAttribute("aria-label", `${this.label} ${title}. ${keys}`);
    const names = new Map(lines.map((line) => [line.name, line.colour]));
    this.legend.replaceChildren(...[...names].map(([name, colour]) => {
      const toggle = (event) => {
        if (event.target.checked) this.hidden.delete(name); else this.hidden.add(name);
        this.draw();
      };
      const box = element("input", { type: "checkbox", onchange: toggle });
      box.checked = !this.hidden.has(name);
      const key = element("span", { class: "key" });
      key.style.background = `var(${colour})`;
      return element("label", {}, box, key, name);
    }));
    this.readout.textContent = "";
    this.zoom(null);
  }

  zoom(range) {
    if (!this.xs || !this.xs.length) { this.range = [0, 1]; this.draw(); return; }
    const all = [this.xs[0], this.xs[this.xs.length - 1]];
    if (all[0] === all[1]) all[1] += 1;
    const least = (all[1] - all[0]) / Math.max(this.xs.length, 1);
    if (range === null) this.range = all;
    else {
      const width = Math.min(Math.max(range[1] - range[0], Math.min(2 * least, all[1] - all[0])), all[1] - all[0]);
      const start = Math.min(Math.max(range[0], all[0]), all[1] - width);
      this.range = [start, start + width];
    }
    const whole = this.range[1] - this.range[0] >= all[1] - all[0];
    for (const button of this.away) button.hidden = whole;
    this.draw();
  }

  scale(factor) {
    const [low, high] = this.range, middle = this.cursor ?? (low + high) / 2;
    this.zoom([middle - (middle - low) * factor, middle + (high - middle) * factor]);
  }

  shift(share) {
    const [low, high] = this.range, way = (high - low) * share;
    this.zoom([low + way, high + way]);
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) this.step(steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.scale(0.5);
    else if (event.key === "-") this.scale(2);
    else if (event.key === "0" || event.key === "Escape") this.zoom(null);
    else return;
    event.preventDefault();
  }

  step(by) {
    if (!this.xs.length) return;
    const here = this.cursor === null ? -1 : this.xs.indexOf(this.cursor);
    const place = here < 0 ? this.xs.length - 1 : Math.min(Math.max(here + by, 0), this.xs.length - 1);
    const x = this.xs[place], [low, high] = this.range;
    if (x < low) this.zoom([x, x + high - low]);
    else if (x > high) this.zoom([x - high + low, x]);
    this.at(x);
  }

  /** Moves the cursor to a value of x and tells what is there. */
  at(x) {
    this.cursor = x;
    if (x !== null) {
      const visible = this.lines.filter((line) => !this.hidden.has(line.name));
      const values = visible.flatMap((line) => {
        const point = line.points[firstFrom(line.points, x)];
        if (!point || point[0] !== x || line.joint === x) return [];
        const within = this.bands.filter((band) => band.of === line).flatMap((band) => {
          const ends = band.points[firstFrom(band.points, x)];
          return ends && ends[0] === x ? [`${band.name} ${digits(ends[1])} to ${digits(ends[2])}`] : [];
        });
        return [`${line.name} ${digits(point[1])}${within.length ? ` (${within.join(", ")})` : ""}`];
      });
      this.readout.textContent = `${placeText(this.kind, x)}: ${[...new Set(values)].join("; ")}`;
    } else this.readout.textContent = "";
    this.draw();
  }

  xAt(event) {
    const box = this.canvas.getBoundingClientRect(), [low, high] = this.range;
    const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
    return low + (high - low) * Math.min(Math.max(share, 0), 1);
  }

  press(event) {
    if (event.button !== 0) return;
    this.drag = [this.xAt(event), this.xAt(event)];
    this.plot.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.xs || !this.xs.length) return;
    const x = this.xAt(event);
    if (this.drag !== null) this.drag[1] = x;
    const after = Math.min(firstFrom(this.xs.map((known) => [known]), x), this.xs.length - 1);
    const before = Math.max(after - 1, 0);
    const nearest = x - this.xs[before] < this.xs[after] - x ? this.xs[before] : this.xs[after];
    if (nearest !== this.cursor) this.at(nearest); else this.draw();
  }

  release(event) {
    if (this.drag === null) return;
    const [from, to] = [Math.min(...this.drag), Math.max(...this.drag)];
    this.drag = null;
    this.plot.releasePointerCapture(event.pointerId);
    if (to - from > (this.range[1] - this.range[0]) / 50) this.zoom([from, to]); else this.draw();
  }

  /** Draws once before the next frame, however often it is asked for. */
  draw() {
    if (this.asked || !this.lines) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.paint(); });
  }

  paint() {
    const width = this.plot.clientWidth, height = this.canvas.clientHeight, ratio = devicePixelRatio || 1;
    if (!width || !height) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const [x0, x1] = this.range;
    const lines = this.lines.filter((line) => !this.hidden.has(line.name));
    const bands = this.bands.filter((band) => lines.includes(band.of));
    const [y0, y1] = this.heights(lines, bands);
    const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    const toX = (x) => MARGIN.left + ((x - x0) / (x1 - x0)) * inner.width;
    const toY = (y) => MARGIN.top + ((y1 - y) / (y1 - y0)) * inner.height;
    this.axes(pen, colour, { toX, toY, width, height, y0, y1 });
    pen.save();
    pen.beginPath();
    pen.rect(MARGIN.left, MARGIN.top, inner.width, inner.height);
    pen.clip();
    pen.globalAlpha = 0.2;
    for (const band of bands) {
      pen.fillStyle = colour(band.colour);
      drawBand(pen, pieces(this.within(band.points)), toX, toY);
    }
    pen.globalAlpha = 1;
    for (const line of lines) {
      pen.strokeStyle = colour(line.colour);
      pen.lineWidth = line.width || 2;
      // Pieces first: the lowest of a pixel is none where a value is missing.
      drawLine(pen, pieces(this.within(line.points)).map((part) => this.thinned(part, inner.width)), toX, toY);
    }
    if (this.drag !== null) {
      pen.globalAlpha = 0.15;
      pen.fillStyle = colour("--accent");
      pen.fillRect(toX(this.drag[0]), MARGIN.top, toX(this.drag[1]) - toX(this.drag[0]), inner.height);
      pen.globalAlpha = 1;
    }
    if (this.cursor !== null) {
      pen.strokeStyle = colour("--faint");
      pen.lineWidth = 1;
      pen.strokeRect(toX(this.cursor), MARGIN.top, 0, inner.height);
    }
    pen.restore();
  }

  axes(pen, colour, { toX, toY, width, height, y0, y1 }) {
    const [x0, x1] = this.range, most = Math.max(Math.floor((width - MARGIN.left) / 95), 2);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = colour("--faint");
    pen.strokeStyle = colour("--grid");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const [value, text] of numberTicks(y0, y1, 6, false)) {
      pen.beginPath();
      pen.moveTo(MARGIN.left, toY(value));
      pen.lineTo(width - MARGIN.right, toY(value));
      pen.stroke();
      pen.fillText(text, MARGIN.left - 6, toY(value), MARGIN.left - 8);
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const ticks = this.kind === "time" ? timeTicks(x0, x1, most) : numberTicks(x0, x1, most, true);
    for (const [x, text] of ticks) pen.fillText(text, toX(x), height - MARGIN.bottom + 7);
  }

  /** The points that are in sight, and one on either side. */
  within(points) {
    const [low, high] = this.range;
    return points.slice(Math.max(firstFrom(points, low) - 1, 0), firstFrom(points, high) + 2);
  }

  /** Of more points than pixels the lowest and highest of each pixel, in their order. */
  thinned(points, pixels) {
    if (points.length <= 4 * pixels) return points;
    const [low, high] = this.range, kept = [];
    const column = ([x]) => Math.floor(((x - low) / (high - low)) * pixels);
    for (let start = 0; start < points.length;) {
      let end = start, least = start, most = start;
      for (; end < points.length && column(points[end]) === column(points[start]); end++) {
        if (points[end][1] < points[least][1]) least = end;
        if (points[end][1] > points[most][1]) most = end;
      }
      for (const place of new Set([Math.min(least, most), Math.max(least, most)])) kept.push(points[place]);
      start = end;
    }
    return kept;
  }

  /** The range of the values in sight, with some air. */
  heights(lines, bands) {
    let low = Infinity, high = -Infinity;
    for (const shape of lines.concat(bands)) {
      for (const [, ...values] of this.within(shape.points)) {
        for (const value of values) {
          if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
        }
      }
    }
    if (low > high) return [0, 1];
    const air = high > low ? 0.05 * (high - low) : Math.max(0.5 * Math.abs(high), 1);
    return [low - air, high + air];
  }
}

/** A small picture of lines and bands without controls, with its lowest and highest value beside it. */
const drawSmall = (canvas, lines, bands) => {
  const width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio || 1;
  if (!width || !height) return;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const points = lines.concat(bands).flatMap((shape) => shape.points);
  const xs = points.map(([x]) => x), ys = points.flatMap(([, ...values]) => values).filter(Number.isFinite);
  if (!ys.length) return;
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)], [y0, y1] = [Math.min(...ys), Math.max(...ys)];
  const toX = (x) => 4 + ((x - x0) / (x1 - x0 || 1)) * (width - 8);
  const toY = (y) => 14 + ((y1 - y) / (y1 - y0 || 1)) * (height - 28);
  pen.globalAlpha = 0.2;
  for (const band of bands) {
    pen.fillStyle = colour(band.colour);
    drawBand(pen, pieces(band.points), toX, toY);
  }
  pen.globalAlpha = 1;
  for (const line of lines) {
    pen.strokeStyle = colour(line.colour);
    pen.lineWidth = 1.5;
    drawLine(pen, pieces(line.points), toX, toY);
  }
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = colour("--faint");
  pen.fillText(digits(y1), 2, 10);
  pen.fillText(digits(y0), 2, height - 3);
};
