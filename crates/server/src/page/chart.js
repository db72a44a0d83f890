// The chart of a series as SVG: what is known, the forecast and its interval.

const HEIGHT = 320;
const TOP = 34;
const BOTTOM = 30;
const RIGHT = 14;
const NAMESPACE = 'http://www.w3.org/2000/svg';

/** An element of SVG. */
function drawn(name, attributes, text) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Round numbers from below `least` to above `most`: 1, 2 or 5 times a power of ten apart. */
function ticksOf(least, most, count) {
  const rough = (most - least || Math.abs(most) || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((step) => step >= rough);
  const first = Math.floor(least / step);
  const last = Math.ceil(most / step);
  return Array.from({ length: last - first + 1 }, (_, place) => (first + place) * step);
}

/** Which rows have a label below the axis, and which unit they are written in: where a day, month or year begins, at most `count`. */
function timeTicks(times, finest, count) {
  const thin = (rows) => rows.filter((_, place) => place % Math.ceil(rows.length / count) === 0);
  const all = times.map((_, row) => row);
  if (!momentOf(times[0])) return { rows: thin(all), unit: finest };
  const begins = { day: 10, month: 7, year: 4 };
  const changes = (unit) => all.filter((row) => row > 0 && times[row].slice(0, begins[unit]) !== times[row - 1].slice(0, begins[unit]));
  const coarser = UNITS.slice(UNITS.indexOf(finest) + 1).reverse();
  const unit = coarser.find((unit) => changes(unit).length >= 3);
  return unit ? { rows: thin(changes(unit)), unit } : { rows: thin(all), unit: finest };
}

/** The chart of `{ past: { times, values }, ahead: { times, values, low, high, truth }, level, unit }`, this many pixels wide. */
function chartOf({ past, ahead, level, unit }, width) {
  const times = [...past.times, ...ahead.times];
  const known = [past.values, ahead.values, ahead.low, ahead.high, ahead.truth].flat().filter(Number.isFinite);
  const svg = drawn('svg', { class: 'chart', xmlns: NAMESPACE, viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: 'img', 'aria-labelledby': 'caption' });
  if (known.length === 0) return svg;
  const values = ticksOf(Math.min(...known), Math.max(...known), 5);
  const left = 16 + 7 * Math.max(...values.map((value) => cellText(value).length));
  const x = (row) => left + ((width - left - RIGHT) * row) / Math.max(times.length - 1, 1);
  const y = (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - values[0])) / (values.at(-1) - values[0]);
  svg.append(...valueAxis(values, left, width, y), ...timeAxis(times, unit, width, x));
  svg.append(...lines(past, ahead, x, y), ...legend(ahead, level), ...tips(past, ahead, unit, x));
  return svg;
}

function valueAxis(values, left, width, y) {
  return values.flatMap((value) => [
    drawn('line', { class: 'grid', x1: left, x2: width - RIGHT, y1: y(value), y2: y(value) }),
    drawn('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, cellText(value)),
  ]);
}

function timeAxis(times, finest, width, x) {
  const { rows, unit } = timeTicks(times, finest, Math.max(2, Math.floor(width / 120)));
  const inside = rows.filter((row) => x(row) < width - 40);
  return inside.flatMap((row) => [
    drawn('line', { class: 'grid', x1: x(row), x2: x(row), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 5 }),
    drawn('text', { x: x(row), y: HEIGHT - 9, 'text-anchor': 'middle' }, timeText(times[row], unit)),
  ]);
}

/** A line through the values that there are, the first of which is in row `start`. */
function pathOf(values, start, x, y) {
  const step = (value, place) => {
    if (!Number.isFinite(value)) return '';
    const joins = place > 0 && Number.isFinite(values[place - 1]);
    return `${joins ? 'L' : 'M'}${x(start + place).toFixed(1)} ${y(value).toFixed(1)}`;
  };
  return values.map(step).join('');
}

function lines(past, ahead, x, y) {
  const start = past.values.length;
  const last = past.values.slice(-1);
  // The forecast goes on where the history ends.
  const from = (values) => pathOf([...last, ...values], start - last.length, x, y);
  const parts = [];
  if (ahead.low.length > 0) {
    const upper = ahead.high.map((value, place) => `${x(start + place).toFixed(1)} ${y(value).toFixed(1)}`).reverse();
    parts.push(drawn('path', { class: 'band', d: `${pathOf(ahead.low, start, x, y)}L${upper.join('L')}Z` }));
  }
  if (start > 0) parts.push(drawn('line', { class: 'now', x1: x(start - 1), x2: x(start - 1), y1: TOP, y2: HEIGHT - BOTTOM }));
  parts.push(drawn('path', { class: 'history', d: pathOf(past.values, 0, x, y) }));
  if (ahead.truth.length > 0) parts.push(drawn('path', { class: 'truth', d: from(ahead.truth) }));
  parts.push(drawn('path', { class: 'forecast', d: from(ahead.values) }));
  return parts;
}

function legend(ahead, level) {
  const entries = [['history', 'known'], ['forecast', 'forecast']];
  if (ahead.low.length > 0) entries.push(['band', `${level} % interval`]);
  let left = 10;
  return entries.flatMap(([kind, words]) => {
    const sign = kind === 'band' ? { x: left, y: 9, width: 22, height: 10 } : { d: `M${left} 14H${left + 22}` };
    const parts = [drawn(kind === 'band' ? 'rect' : 'path', { class: kind, ...sign }), drawn('text', { x: left + 28, y: 18 }, words)];
    left += 40 + 6.4 * words.length;
    return parts;
  });
}

/** What a pointer shows of each row: its time and its values. */
function tips(past, ahead, unit, x) {
  const band = (row) => (ahead.low.length > 0 ? ` (${cellText(ahead.low[row])} to ${cellText(ahead.high[row])})` : '');
  const texts = [
    ...past.times.map((time, row) => `${timeText(time, unit)}: ${cellText(past.values[row])}`),
    ...ahead.times.map((time, row) => `${timeText(time, unit)}: ${cellText(ahead.values[row])}${band(row)}`),
  ];
  const width = x(1) - x(0);
  return texts.map((text, row) => {
    const area = drawn('rect', { x: x(row) - width / 2, y: TOP, width, height: HEIGHT - TOP - BOTTOM, 'fill-opacity': 0 });
    area.append(drawn('title', {}, text));
    return area;
  });
}

/** The text of a chart as a file of its own, in light colours on white. */
function fileOf(svg) {
  const copy = svg.cloneNode(true);
  const rules = `.chart { color: #222; --line: #1f5fbf; --truth: #444; --band: #1f5fbf33; --grid: #8883; --edge: #8888; }`;
  const own = [...document.styleSheets[0].cssRules].map((rule) => rule.cssText).filter((text) => text.startsWith('.chart'));
  copy.prepend(drawn('style', {}, [rules, ...own].join('\n')), drawn('rect', { width: '100%', height: '100%', fill: '#fff' }));
  return new XMLSerializer().serializeToString(copy);
}
