// The page: a table is looked at as soon as it is there, then forecast.

const $ = (id) => document.getElementById(id);
const ROLES = ['time_col', 'target_col', 'id_col'];
const MORE = ['fill', 'aggregate', 'numbers', 'time_format'];

/** What the page knows: the table, how it was read, the models that are served, what the user set, and the answer. */
const state = { table: null, looked: null, history: new Map(), models: [], chosen: {}, edited: new Set(), answer: null };

const TYPES = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xlsm: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  parquet: 'application/vnd.apache.parquet',
  pq: 'application/vnd.apache.parquet',
  arrows: 'application/vnd.apache.arrow.stream',
};

const typeOf = (name) => TYPES[name.split('.').pop().toLowerCase()] ?? 'text/csv';
const model = () => state.models.find(({ name }) => name === $('model').value);

// The table.

function takeFile(file) {
  if (!file) return;
  $('data').value = '';
  takeTable({ name: file.name, type: typeOf(file.name), body: file });
}

function takeText() {
  const text = $('data').value;
  $('file').value = '';
  if (text.trim()) takeTable({ name: 'the rows', type: 'text/csv', body: text });
}

function takeTable(table) {
  state.table = table;
  state.chosen = {};
  for (const role of ROLES) showColumns(role, [], null);
  for (const name of MORE) $(name).value = '';
  $('layout').value = 'long';
  look();
}

/** Five years of months with a trend and a season, of two shops. */
function exampleText() {
  const rows = ['month,shop,sales'];
  for (const [shop, size] of [['North', 1200], ['South', 700]]) {
    for (let month = 0; month < 60; month += 1) {
      const date = new Date(Date.UTC(2020, month, 1)).toISOString().slice(0, 10);
      const season = 1 + 0.25 * Math.sin((2 * Math.PI * (month % 12)) / 12) + (month % 12 === 11 ? 0.3 : 0);
      rows.push(`${date},${shop},${Math.round((size + 9 * month) * season + ((month * 37) % 23))}`);
    }
  }
  return rows.join('\n');
}

/** The fields that say how the table is read: a model that is served knows it by itself. */
function readingFields() {
  const fields = { model: $('model').value };
  if (model()) return fields;
  const reading = $('layout').value === 'wide' ? { wide: true } : { ...state.chosen };
  for (const name of MORE) if ($(name).value) reading[name] = name === 'numbers' ? JSON.parse($(name).value) : $(name).value;
  if (Object.keys(reading).length > 0) fields.reading = JSON.stringify(reading);
  return fields;
}

let looks = 0;

/** Asks how the table is read, and shows it. */
async function look() {
  if (!state.table) return;
  looks += 1;
  const number = looks;
  $('doubt').textContent = '';
  $('summary').textContent = `Reading ${state.table.name} …`;
  try {
    const answer = await engine.look({ table: state.table, fields: readingFields() });
    if (number === looks) showLook(answer);
  } catch (problem) {
    if (number === looks) showDoubt(problem);
  }
}

function showLook(answer) {
  const { understood, columns } = answer;
  const { freq, seasons, series, rows } = understood;
  state.looked = understood;
  state.history = historyOf(understood, columns);
  const [, time] = Object.keys(columns);
  const last = columns[time].reduce((last, time) => (time > last ? time : last), columns[time][0]);
  const length = series === 1 ? `one series of ${counted(rows, 'row')}` : `${counted(series, 'series')} of ${counted(rows, 'row')} in all`;
  $('summary').textContent = `${state.table.name}: ${length}, ${freqText(freq)}, ${seasonText(seasons, freq)}; the last is ${timeText(last, unitOf(freq))}.`;
  for (const role of ROLES) showColumns(role, understood.columns, understood[role]);
  const unread = understood.unread.length > 0 ? [`Not read: ${understood.unread.join(', ')}.`] : [];
  showList('notes', [...understood.notes.map(inWordsOfPage), ...unread]);
  showTable('first', columns, columns[time].map((_, row) => row).slice(0, 6));
  proposeSteps();
}

function showDoubt(problem) {
  state.looked = null;
  state.history = new Map();
  $('summary').textContent = `${state.table.name} is not understood yet.`;
  $('doubt').textContent = inWordsOfPage(problem.message);
  showList('notes', []);
  $('first').replaceChildren();
  const asked = problem.setting?.replace('reading.', '');
  if (MORE.includes(asked)) $('more').open = true;
  for (const role of ROLES) {
    const columns = role === asked || problem.code === 'missing_column' ? problem.columns : null;
    if (columns) showColumns(role, columns, state.chosen[role] ?? null);
  }
}

/** A message in which the fields of a request have the names that they have here: `reading.fill` is “Missing rows”. */
function inWordsOfPage(message) {
  const label = (name) => document.querySelector(`label[for="${name}"]`)?.textContent;
  const named = message.replaceAll(/`reading\.(\w+)(?:(?: =|:) ([^`]*))?`/g, (text, name, value) => {
    const found = label(name === 'wide' ? 'layout' : name);
    return found ? `“${found}${value && name !== 'wide' ? `: ${value}` : ''}”` : text;
  });
  return named.replace(/^data\b/, state.table?.name ?? 'data');
}

/** Offers columns for a role. */
function showColumns(role, columns, taken) {
  const none = role === 'id_col' ? 'none: one series' : 'found by the reader';
  const empty = new Option(columns.length > 0 && $('doubt').textContent ? 'choose …' : none, '');
  $(role).replaceChildren(...(taken ? [] : [empty]), ...columns.filter((name) => name).map((name) => new Option(name)));
  $(role).value = taken ?? '';
}

/** A season of steps, as far as the data carry, unless the user said how many. */
function proposeSteps() {
  if (state.edited.has('h')) return;
  const { seasons, fewest } = state.looked;
  const season = seasons[0] > 1 ? seasons[0] : 10;
  $('h').value = model()?.h ?? Math.max(1, Math.min(season, Math.floor(fewest / 3)));
}

/** The last rows of each series by its id. */
function historyOf({ target_col: target }, columns) {
  const [id, time, values] = Object.keys(columns);
  const found = new Map();
  columns[id].forEach((series, row) => {
    const key = String(series);
    if (!found.has(key)) found.set(key, { times: [], values: [] });
    found.get(key).times.push(columns[time][row]);
    found.get(key).values.push(columns[target ?? values]?.[row] ?? NaN);
  });
  return found;
}

// The models.

async function loadModels() {
  try {
    state.models = await engine.models();
    $('problem').textContent = '';
  } catch (problem) {
    $('problem').textContent = problem.message;
    $('guard').hidden &&= problem.code !== 'token';
  }
  $('comparison').hidden = state.models.length === 0;
  const [auto] = $('model').options;
  $('model').replaceChildren(auto, ...state.models.map(({ name }) => new Option(name)));
  showModel();
}

/** Fields that belong to the automatic forecast alone, or to models that are served. */
function showModel() {
  const served = model();
  $('budget').disabled = Boolean(served);
  $('compare').disabled = !served;
  $('compare').checked &&= Boolean(served);
  for (const id of [...ROLES, ...MORE, 'layout']) $(id).disabled = Boolean(served);
  if (!state.edited.has('level')) $('level').value = !served || served.intervals ? 80 : '';
  look();
}

// The forecast.

async function run(event) {
  event.preventDefault();
  if (!state.table) return refuse('Give a table first: choose a file, drop one, or paste rows.');
  refuse('');
  $('status').textContent = 'Forecasting …';
  $('run').disabled = true;
  try {
    const compares = $('compare').checked;
    const asked = { table: state.table, fields: askedFields(compares) };
    state.answer = compares ? await engine.compare(asked) : await engine.forecast(asked);
    showAnswer();
    $('status').textContent = `Done: ${counted(rowsOf(state.answer), 'row')}.`;
    $('heading').focus();
  } catch (problem) {
    refuse(inWordsOfPage(problem.message));
  } finally {
    $('run').disabled = false;
  }
}

function refuse(message) {
  $('status').textContent = '';
  $('problem').textContent = message;
}

function askedFields(compares) {
  const fields = readingFields();
  if (compares) return fields;
  for (const name of ['h', 'level']) if ($(name).value) fields[name] = $(name).value;
  if (!$('budget').disabled && $('budget').value) fields.budget = $('budget').value;
  return fields;
}

const rowsOf = (answer) => Object.values(answer.columns)[0].length;

function showAnswer() {
  const { columns, forecasts, warnings, understood, report } = state.answer;
  if (understood) state.looked = understood;
  const ids = [...new Set(columns[Object.keys(columns)[0]].map(String))];
  const points = forecasts.map(({ point }) => point).filter((name) => name);
  const others = Object.keys(columns).slice(2).filter((name) => name !== 'cutoff' && name !== state.looked?.target_col);
  fill('series', ids);
  fill('column', points.length > 0 ? points : others);
  $('series-label').textContent = ids.length === 1 ? 'Series' : `Series, one of ${countFormat.format(ids.length)}`;
  showList('warnings', warnings);
  showBoard(state.answer.board);
  link('download', [csvOf(columns)], 'text/csv');
  $('report').hidden = !report;
  if (report) link('report', [report], 'text/html');
  $('answer').hidden = false;
  showSeries();
}

function fill(select, names) {
  const before = $(select).value;
  $(select).replaceChildren(...names.map((name) => new Option(name)));
  if (names.includes(before)) $(select).value = before;
  $(select).disabled = names.length < 2;
}

function showBoard(board) {
  $('board').hidden = !board;
  if (!board) return;
  $('sentence').textContent = board.sentence;
  const column = (name, digits) => board.rows.map((row) => (row[name] === null ? '' : row[name].toFixed(digits)));
  const columns = {
    Model: board.rows.map((row) => row.model),
    MASE: column('mase', 3),
    CRPS: column('scaled_crps', 3),
    'Coverage, %': board.rows.map(({ coverage }) => (coverage === null ? '' : Math.round(100 * coverage))),
    Weight: column('weight', 2),
    Seconds: column('seconds', 1),
  };
  showTable('leaders', columns, board.rows.map((_, row) => row), 1);
  showList('warnings', [...state.answer.warnings, ...board.told]);
}

/** The rows of the series that is chosen. */
function chosenRows() {
  const { columns } = state.answer;
  const ids = columns[Object.keys(columns)[0]];
  return ids.flatMap((id, row) => (String(id) === $('series').value ? [row] : []));
}

function showSeries() {
  const rows = chosenRows();
  showTable('table', state.answer.columns, rows);
  showChart(seriesOf(rows));
}

/** What the chart shows of the series that is chosen. */
function seriesOf(rows) {
  const { columns, forecasts } = state.answer;
  const [, time] = Object.keys(columns);
  const of = (name) => (name in columns ? rows.map((row) => columns[name][row] ?? NaN) : []);
  const interval = forecasts.find(({ point }) => point === $('column').value)?.intervals[0];
  const ahead = {
    times: of(time),
    values: of($('column').value),
    low: interval ? of(interval.low) : [],
    high: interval ? of(interval.high) : [],
    truth: 'cutoff' in columns ? of([state.looked?.target_col, 'y'].find((name) => name in columns)) : [],
  };
  return { past: pastOf(ahead.times), ahead, level: interval?.level, unit: unitOf(state.looked?.freq ?? 'D') };
}

/** The rows before a forecast, five times as many as it has or 60. */
function pastOf(times) {
  const known = state.history.get($('series').value) ?? { times: [], values: [] };
  const end = known.times.indexOf(times[0]);
  const last = end < 0 ? known.times.length : end;
  const first = Math.max(0, last - Math.max(5 * times.length, 60));
  return { times: known.times.slice(first, last), values: known.values.slice(first, last) };
}

function showChart(series) {
  const svg = chartOf(series, Math.max($('chart').clientWidth, 240));
  $('chart').replaceChildren(svg);
  link('picture', [fileOf(svg)], 'image/svg+xml');
  const { ahead, level, unit } = series;
  const [first, last] = [ahead.times[0], ahead.times.at(-1)].map((time) => timeText(time, unit));
  const band = ahead.low.length > 0 ? ` The band is to hold the truth in ${level} % of cases.` : '';
  $('caption').textContent = `${$('series').value} from ${first} to ${last}, by ${$('column').value}.${band}${errorText(ahead)}`;
}

/** The error of a forecast beside the truth. */
function errorText({ values, truth }) {
  const errors = truth.map((value, row) => Math.abs(value - values[row])).filter(Number.isFinite);
  if (errors.length === 0) return '';
  return ` The mean absolute error is ${cellText(errors.reduce((sum, error) => sum + error) / errors.length)}.`;
}

// Lists, tables and files.

function showList(id, texts) {
  $(id).replaceChildren(...texts.map((text) => Object.assign(document.createElement('li'), { textContent: text })));
}

/** Some rows of a table of columns; texts, and the first ones, stand left. */
function showTable(id, columns, rows, lefts = 2) {
  const names = Object.keys(columns);
  const cell = (tag, text, place) => {
    const cell = document.createElement(tag);
    cell.textContent = cellText(text);
    if (place < lefts) cell.className = 'text';
    if (tag === 'th') cell.scope = 'col';
    return cell;
  };
  const line = (cells) => {
    const line = document.createElement('tr');
    line.append(...cells);
    return line;
  };
  const head = line(names.map((name, place) => cell('th', name, place)));
  $(id).replaceChildren(head, ...rows.map((row) => line(names.map((name, place) => cell('td', columns[name][row], place)))));
}

function csvOf(columns) {
  const names = Object.keys(columns);
  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell ?? '');
  const rows = columns[names[0]].map((_, row) => names.map((name) => quoted(columns[name][row])).join(','));
  return [names.map(quoted).join(','), ...rows, ''].join('\n');
}

/** Lets a link give a file. */
function link(id, parts, type) {
  if ($(id).href) URL.revokeObjectURL($(id).href);
  $(id).href = URL.createObjectURL(new Blob(parts, { type }));
}

// What the user does.

function listen() {
  $('form').addEventListener('submit', run);
  $('file').addEventListener('change', () => takeFile($('file').files[0]));
  $('data').addEventListener('change', takeText);
  $('data').addEventListener('paste', () => setTimeout(takeText));
  $('example').addEventListener('click', () => {
    $('data').value = exampleText();
    takeText();
  });
  for (const role of ROLES) {
    $(role).addEventListener('change', () => {
      if ($(role).value) state.chosen[role] = $(role).value;
      else delete state.chosen[role];
      look();
    });
  }
  for (const id of ['layout', ...MORE]) $(id).addEventListener('change', look);
  $('model').addEventListener('change', showModel);
  $('token').addEventListener('change', () => {
    engine.token = $('token').value;
    loadModels();
  });
  for (const id of ['h', 'level']) $(id).addEventListener('input', () => state.edited.add(id));
  for (const id of ['series', 'column']) $(id).addEventListener('change', showSeries);
  new ResizeObserver(() => state.answer && showChart(seriesOf(chosenRows()))).observe($('chart'));
  listenToDrops();
}

/** A file may be dropped anywhere. */
function listenToDrops() {
  for (const kind of ['dragover', 'dragleave', 'drop']) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      document.body.classList.toggle('over', kind === 'dragover');
      if (kind === 'drop') takeFile(event.dataTransfer.files[0]);
    });
  }
}

$('privacy').textContent = engine.privacy;
listen();
loadModels();
