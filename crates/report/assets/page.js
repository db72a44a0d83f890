"use strict";
// The page: numbers are unpacked once, and a series becomes lines only when it is chosen.

(() => {
  const byId = (id) => document.getElementById(id);
  const bytes = (name) => {
    const text = atob(byId(`packed-${name}`).textContent.trim()), all = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) all[i] = text.charCodeAt(i);
    return all.buffer;
  };
  const facts = JSON.parse(byId("facts").textContent);
  const colourOf = (model) => `--c${model % COLOURS}`;

  const words = (metric) => facts.words[metric] ?? metric;

  if (facts.total) {
    const known = facts.total.known;
    const lines = [{ name: "history", colour: "--ink", points: known }];
    facts.total.models.forEach(({ name, points }) => {
      const before = known[firstFrom(known, points[0][0]) - 1], last = Number.isFinite(points[0][1]) ? before : null;
      const number = facts.models.findIndex((model) => model.name === name);
      lines.push({ name, colour: colourOf(Math.max(number, 0)), points: (last ? [last] : []).concat(points), joint: last ? last[0] : null });
    });
    new Chart(byId("total-chart"), "Chart of the sum over all series").show({ title: "", kind: facts.integer ? "number" : "time", lines, bands: [] });
  }

  /** The errors of a sheet by its keys, of its first metric that is an error. */
  const showSheet = (id, label, sheet, places) => {
    if (!sheet) return;
    const metrics = sheet.metrics.length, models = sheet.models.length;
    const metric = Math.max(sheet.metrics.findIndex((name) => !/^(bias|cfe|pis|coverage|calibration|missing)|_(uncounted|missing)$/.test(name)), 0);
    const lines = sheet.models.map((name, model) => ({
      name: `${name}: ${words(sheet.metrics[metric])}`,
      colour: colourOf(model),
      points: sheet.keys.map((_, key) => [places[key], sheet.values[(key * metrics + metric) * models + model] ?? NaN]),
    }));
    const kind = places.some((place) => place > 1e7) ? "time" : "number";
    new Chart(byId(id), label).show({ title: words(sheet.metrics[metric]), kind, lines, bands: [] });
  };
  showSheet("steps-chart", "Chart of errors by step ahead:", facts.steps, facts.steps ? facts.steps.keys.map(Number) : []);
  if (facts.cutoffs) {
    const times = facts.cutoffs.keys.map((key) => (/^-?\d+$/.test(key) ? Number(key) : Date.parse(`${key.replace(" ", "T")}Z`)));
    const dates = facts.cutoffs.keys.map((key) => Date.parse(key.slice(0, 10)));
    const places = times.map((time, i) => (Number.isFinite(time) ? time : Number.isFinite(dates[i]) ? dates[i] : i));
    showSheet("cutoffs-chart", "Chart of errors by cutoff:", facts.cutoffs, places);
  }
  if (!byId("list")) return;

  const timeline = new Float64Array(bytes("timeline")), index = new Int32Array(bytes("index"));
  const places = new Int32Array(bytes("places")), values = new Float32Array(bytes("values"));
  const scores = new Float32Array(bytes("scores"));
  const columns = facts.models.reduce((sum, model) => sum + 1 + 2 * model.levels.length, 0);
  const series = [];
  for (let at = 0, value = 0; series.length < facts.ids.length;) {
    series.push([at, value]);
    value += index[at];
    const forecasts = index[at + 2];
    at += 3;
    for (let i = 0; i < forecasts; i++, at += 2) value += columns * index[at];
  }
  const time = (place, i) => timeline[place >= 0 ? place + i : places[-1 - place + i]];

  /** The history and the forecasts of a series. */
  const unpacked = (number) => {
    let [at, value] = series[number];
    const points = (count, place) => Array.from({ length: count }, (_, i) => [time(place, i), values[value + i]]);
    const history = points(index[at], index[at + 1]);
    value += index[at];
    const forecasts = Array.from({ length: index[at + 2] }, (_, i) => {
      const [count, place] = [index[at + 3 + 2 * i], index[at + 4 + 2 * i]];
      const all = Array.from({ length: columns }, () => { const column = points(count, place); value += count; return column; });
      return { all, first: time(place, 0) };
    });
    return { history, forecasts };
  };

  const linesOf = ({ history, forecasts }) => {
    const lines = [{ name: "history", colour: "--ink", points: history }], bands = [];
    for (const { all, first } of forecasts) {
      const last = history[firstFrom(history, first) - 1];
      // What is drawn begins at the last value, unless its own first step is missing.
      const startOf = (...parts) => last && [last, ...parts.map((part) => part[0])].every(([, y]) => Number.isFinite(y)) ? [last] : [];
      let column = 0;
      facts.models.forEach((model, number) => {
        const points = all[column++], intervals = model.levels.map(() => [all[column++], all[column++]]);
        const known = points.some(([, y]) => Number.isFinite(y));
        const start = startOf(points);
        const line = { name: model.name, colour: colourOf(number), points: known ? start.concat(points) : [], joint: start.length ? last[0] : null };
        let drawn = known;
        intervals.forEach(([low, high], level) => {
          if (!low.some(([, y]) => Number.isFinite(y))) return;
          drawn = true;
          const ends = startOf(low, high).map(([x, y]) => [x, y, y]).concat(low.map(([x, y], i) => [x, y, high[i][1]]));
          bands.push({ name: `${model.levels[level]} %`, of: line, colour: line.colour, points: ends });
        });
        if (drawn) lines.push(line);
      });
    }
    return { lines, bands };
  };

  const chart = new Chart(byId("series-chart"), "Chart of series");
  /** Forecasts of more cutoffs than a chart can show beside each other have a small one each, the latest first. */
  const MOST_TOGETHER = 4, MOST_SMALL = 12;
  let shown = null, smallFrom = 0;
  const small = ({ history, forecasts }, kind) => {
    const box = byId("multiples"), many = forecasts.length > MOST_TOGETHER;
    box.hidden = !many;
    byId("multiples-head").hidden = !many;
    byId("multiples-pages").hidden = forecasts.length <= MOST_SMALL;
    if (!many) { box.replaceChildren(); return; }
    const newest = [...forecasts].sort((a, b) => b.first - a.first).slice(smallFrom, smallFrom + MOST_SMALL);
    byId("newer").disabled = smallFrom === 0;
    byId("older").disabled = smallFrom + MOST_SMALL >= forecasts.length;
    box.replaceChildren(...newest.map((forecast) => {
      const at = firstFrom(history, forecast.first), length = (forecast.all[0] || []).length;
      const around = history.slice(Math.max(at - 3 * length, 0), at + length);
      const canvas = element("canvas", { role: "img", "aria-label": `Forecast from ${placeText(kind, forecast.first)} on` });
      const caption = element("figcaption", {}, `from ${placeText(kind, forecast.first)}`);
      const { lines, bands } = linesOf({ history: around, forecasts: [forecast] });
      requestAnimationFrame(() => drawSmall(canvas, lines, bands));
      return element("figure", {}, canvas, caption);
    }));
  };
  const turn = (by) => { smallFrom = Math.max(smallFrom + by, 0); small(unpacked(shown), facts.integer ? "number" : "time"); };
  byId("newer").addEventListener("click", () => turn(-MOST_SMALL));
  byId("older").addEventListener("click", () => turn(MOST_SMALL));
  const choose = (number) => {
    shown = number;
    smallFrom = 0;
    byId("chosen").textContent = facts.ids[number];
    const kind = facts.integer ? "number" : "time", all = unpacked(number);
    const newest = [...all.forecasts].sort((a, b) => b.first - a.first);
    const together = all.forecasts.length > MOST_TOGETHER ? newest.slice(0, 1) : all.forecasts;
    const { lines, bands } = linesOf({ history: all.history, forecasts: together });
    chart.show({ title: facts.ids[number], kind, lines, bands });
    small(all, kind);
    if (byId("behind").open) tell();
    mark();
  };

  /** The chosen series as a table: a row for each time and forecast of it. */
  const MOST_ROWS = 2000;
  const tell = () => {
    const { history, forecasts } = unpacked(shown);
    const names = facts.models.flatMap((model) => [model.name].concat(model.levels.flatMap((level) => [`${model.name} from ${level} %`, `to ${level} %`])));
    const known = new Map(history), kind = facts.integer ? "number" : "time";
    const ahead = new Set(forecasts.flatMap(({ all }) => (all[0] || []).map(([x]) => x)));
    const rows = history.filter(([x]) => !ahead.has(x)).map(([x, y]) => [x, [y]]);
    for (const { all } of forecasts) {
      (all[0] || []).forEach(([x], i) => rows.push([x, [known.get(x) ?? NaN].concat(all.map((column) => column[i][1]))]));
    }
    rows.sort((a, b) => a[0] - b[0]);
    const cut = rows.slice(-MOST_ROWS);
    const head = element("tr", {}, ...["time", "history"].concat(names).map((name) => element("th", { scope: "col" }, name)));
    const body = cut.map(([x, cells]) => element("tr", {}, element("th", { scope: "row" }, placeText(kind, x)),
      ...cells.map((cell) => element("td", {}, digits(cell)))));
    const caption = cut.length < rows.length ? `The last ${cut.length} of ${rows.length} rows of ${facts.ids[shown]}` : `All rows of ${facts.ids[shown]}`;
    byId("behind").querySelector("div").replaceChildren(element("table", {},
      element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body)));
  };
  byId("behind").addEventListener("toggle", () => { if (byId("behind").open && shown !== null) tell(); });

  // The list of series: found by a part of the id, ordered by a model's score, a page at a time.
  const PAGE = 20;
  const sheet = facts.series;
  const rowOf = new Map(sheet ? sheet.keys.map((id, row) => [id, row]) : []);
  const score = (number, metric, model) => {
    const row = rowOf.get(facts.ids[number]);
    return row === undefined ? NaN : scores[(row * sheet.metrics.length + metric) * sheet.models.length + model];
  };
  const options = (select, names) => names.forEach((name, i) => select.append(element("option", { value: String(i) }, name)));
  let order = facts.ids.map((_, number) => number), from = 0;
  const arrange = () => {
    const part = byId("find").value.toLowerCase();
    const found = facts.ids.map((_, number) => number).filter((number) => facts.ids[number].toLowerCase().includes(part));
    const model = sheet ? Number(byId("order").value) - 1 : -1;
    if (model >= 0) {
      const metric = Number(byId("metric").value);
      const size = found.map((number) => { const of = Math.abs(score(number, metric, model)); return Number.isNaN(of) ? -1 : of; });
      const coverage = /^(coverage|calibration)/.test(sheet.metrics[metric]);
      order = found.map((_, i) => i).sort((a, b) => (coverage ? size[a] - size[b] : size[b] - size[a])).map((i) => found[i]);
    } else order = found;
    from = 0;
    fill();
  };
  const fill = () => {
    const metric = sheet ? Number(byId("metric").value) : 0, models = sheet ? sheet.models : [];
    const names = ["series"].concat(models.map((name) => `${name}: ${words(sheet.metrics[metric])}`));
    byId("list").tHead.replaceChildren(element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));
    byId("list").tBodies[0].replaceChildren(...order.slice(from, from + PAGE).map((number) => {
      const button = element("button", { type: "button", "data-series": String(number), onclick: () => choose(number) }, facts.ids[number] || "(no id)");
      return element("tr", {}, element("th", { scope: "row" }, button), ...models.map((_, model) => element("td", {}, digits(score(number, metric, model)))));
    }));
    const last = Math.min(from + PAGE, order.length);
    byId("found").textContent = order.length ? `Series ${from + 1} to ${last} of ${order.length}` : "No series has such an id";
    byId("pages").hidden = order.length <= PAGE;
    byId("back").disabled = from === 0;
    byId("on").disabled = last === order.length;
    mark();
  };
  const mark = () => {
    for (const button of byId("list").querySelectorAll("button")) {
      if (button.dataset.series === String(shown)) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  };
  if (sheet) {
    options(byId("metric"), sheet.metrics.map(words));
    options(byId("order"), ["as in the data"].concat(sheet.models.map((name) => `worst of ${name} first`)));
    byId("order").value = "1";
  } else ["metric-label", "order-label"].forEach((id) => { byId(id).hidden = true; });
  byId("find").addEventListener("input", arrange);
  ["metric", "order"].forEach((id) => byId(id).addEventListener("change", arrange));
  byId("back").addEventListener("click", () => { from = Math.max(from - PAGE, 0); fill(); });
  byId("on").addEventListener("click", () => { from += PAGE; fill(); });
  arrange();
  if (order.length) choose(order[0]);
})();
