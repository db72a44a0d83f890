// Data as users have them, as columns for the engine; and columns of answers, as users want them.

import { refuse } from './error.js';
import { PLAIN, civil, kindOfTimes, temporalClass } from './times.js';

const isList = (value) => Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

/** `maxSteps` as `max_steps`: names of options as the engine has them. */
export function snake(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function snakeKeys(object = {}) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [snake(name), value]));
}

/** A number, or null for NaN, null and undefined, which are all missing. */
function number(value, place) {
  if (value === null || value === undefined) return null;
  const known = typeof value === 'bigint' ? Number(value) : value;
  if (typeof known !== 'number') {
    const shown = typeof known === 'string' ? JSON.stringify(known) : String(known);
    throw refuse('data', `${place} is ${shown}, which is no number; give numbers, and null or NaN for what is missing`);
  }
  if (known === Infinity || known === -Infinity) {
    throw refuse('data', `${place} is ${known}; give finite numbers, and null or NaN for what is missing`);
  }
  return Number.isNaN(known) ? null : known;
}

/** A cell of a table. */
function cell(value, place) {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return civil(value, place);
  return number(value, place);
}

/**
 * Rows or columns as columns, and the kinds of the times in them by column: `{ columns, kinds }`. Times are of the kinds of the data in
 * other tables as well.
 */
function columnsOf(data, timeColumn, name = 'data', known = {}) {
  const lists = isList(data) ? ofRows(data, name) : data;
  if (lists === null || typeof lists !== 'object') {
    throw refuse(name, `${name} is ${typeof data}; give an array of numbers, rows (objects) or columns (an object of arrays)`);
  }
  const columns = {};
  const kinds = {};
  for (const [column, values] of Object.entries(lists)) {
    if (!isList(values)) throw refuse(name, `${name}: the column ${column} is no array; give one value for each row`);
    const list = Array.from(values);
    const kind = known[column] ?? kindOfTimes(list, column === timeColumn);
    kinds[column] = kind;
    columns[column] = list.map((value, row) => {
      const place = `${name}, row ${row}, column ${column}`;
      return value === null || value === undefined ? null : cell(kind.write(value, place), place);
    });
  }
  return { columns, kinds };
}

function ofRows(rows, name) {
  const columns = {};
  rows.forEach((row, place) => {
    if (row === null || typeof row !== 'object') {
      throw refuse(name, `${name}, row ${place} is ${row === null ? 'null' : typeof row}; give rows as objects`);
    }
    for (const column of Object.keys(row)) columns[column] ??= new Array(rows.length).fill(null);
    for (const [column, value] of Object.entries(row)) columns[column][place] = value;
  });
  return columns;
}

/** Whether data are a single series: a list of numbers. */
export function isSeries(data) {
  if (!isList(data)) return false;
  if (!Array.isArray(data)) return true;
  const known = data.find((value) => value !== null && value !== undefined);
  return known === undefined || typeof known !== 'object';
}

/** The name and the bytes of a file: of a `File` or a `Blob`, or of `{ name, bytes }`; nothing of other data. */
async function fileOf(data) {
  const isBlob = typeof Blob !== 'undefined' && data instanceof Blob;
  if (!isBlob && (typeof data?.name !== 'string' || data.bytes === undefined)) return null;
  const bytes = isBlob ? await data.arrayBuffer() : data.bytes;
  if (!(bytes instanceof ArrayBuffer) && !ArrayBuffer.isView(bytes)) {
    throw refuse('data', `${data.name}: its bytes are ${typeof bytes}; give an ArrayBuffer or a Uint8Array`);
  }
  const view = ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
  return { name: data.name || 'data.csv', bytes: view };
}

/** What a request is given: its tables, the kinds of the times in them, and the bytes of a file beside it. */
export async function given(data, options) {
  const file = await fileOf(data);
  if (!file) return { ...tablesOf(data, options), bytes: undefined };
  const { tables } = tablesOf([], options);
  delete tables.values;
  return { tables: { ...tables, file: file.name }, kinds: {}, bytes: file.bytes };
}

/** The tables of a request, and the kinds of the times in them: `{ tables, kinds }`. */
export function tablesOf(data, { future, static: statics, reading, end, idCol, timeCol, targetCol } = {}) {
  const options = snakeKeys(reading);
  if (idCol !== undefined) options.id_col = idCol;
  if (timeCol !== undefined) options.time_col = timeCol;
  if (targetCol !== undefined) options.target_col = targetCol;
  const tables = { reading: options };
  if (end !== undefined) tables.end = end;
  const timeColumn = options.time_col ?? 'ds';
  let kinds = {};
  if (data === null || data === undefined) {
    throw refuse('data', 'there are no data; give an array of numbers, rows (objects) or columns (an object of arrays)');
  }
  if (isSeries(data)) {
    tables.values = Array.from(data, (value, place) => number(value, `value ${place}`));
  } else {
    ({ columns: tables.data, kinds } = columnsOf(data, timeColumn));
  }
  if (future !== undefined) tables.future = columnsOf(future, timeColumn, 'future', kinds).columns;
  if (statics !== undefined) tables.static = columnsOf(statics, timeColumn, 'static').columns;
  return { tables, kinds };
}

/** A time of an answer, of the kind that the data had. */
const timeOf = (kind, time) => (typeof time === 'string' ? kind.read(time) : time);

const numbers = (values) => Float64Array.from(values, (value) => value ?? NaN);

/** A table of an answer: numbers as `Float64Array` (NaN is unknown), times of the kind that the data had. */
export function tableOf(answer, kinds) {
  const { names, columns, models, freq } = answer;
  const [id, time] = names;
  const kind = kinds[time] ?? PLAIN;
  const taken = {};
  for (const name of names) {
    const values = columns[name];
    if (name === id) taken[name] = values;
    else if (name === time || (name === 'cutoff' && answer.cutoff !== false && isTimes(names, name))) {
      taken[name] = values.map((text) => timeOf(kind, text));
    } else taken[name] = numbers(values);
  }
  return new Table(names, taken, models, freq);
}

/** Whether a column called `cutoff` is that of times, which stands third. */
const isTimes = (names, name) => names.indexOf(name) === 2;

/** A table: columns by name, and what they are of each model. */
export class Table {
  constructor(names, columns, models, freq) {
    this.names = names;
    this.columns = columns;
    this.models = models;
    this.freq = freq;
  }

  get length() {
    return this.columns[this.names[0]].length;
  }

  /** The rows as objects. */
  rows() {
    const names = this.names;
    return Array.from({ length: this.length }, (_, row) => Object.fromEntries(names.map((name) => [name, this.columns[name][row]])));
  }

  /** The forecast of a model (the first one by default), series by series. */
  series(model = this.models[0]?.model) {
    const found = this.models.find((known) => known.model === model);
    if (!found) return [];
    const [idName, timeName] = this.names;
    const ids = this.columns[idName];
    const parts = [];
    for (let start = 0; start < ids.length; ) {
      let end = start + 1;
      while (end < ids.length && ids[end] === ids[start]) end += 1;
      const of = (name) => this.columns[name].slice(start, end);
      const lower = {}, upper = {}, quantiles = {};
      for (const interval of found.intervals) {
        lower[interval.level] = of(interval.lower);
        upper[interval.level] = of(interval.upper);
      }
      for (const quantile of found.quantiles) quantiles[quantile.probability] = of(quantile.column);
      const mean = found.mean ? of(found.mean) : null;
      parts.push({ id: ids[start], times: of(timeName), mean, lower, upper, quantiles });
      start = end;
    }
    return parts;
  }
}

/**
 * Data and options as a worker can be sent them, where they have times of Temporal's, which no structured clone carries; and what gives
 * its answer the times of their kinds: `{ data, options, revive }`.
 */
export function sendable(data, options) {
  const first = Array.isArray(data) ? data[0] : data;
  const cells = first === null || typeof first !== 'object' || ArrayBuffer.isView(first) ? [] : Object.values(first);
  const hasTemporal = cells.some((cell) => temporalClass(Array.isArray(cell) ? cell.find((value) => value) : cell));
  if (!hasTemporal) return { data, options, revive: (answer) => answer };
  const timeColumn = options.timeCol ?? 'ds';
  const { columns, kinds } = columnsOf(data, timeColumn);
  const future = options.future && columnsOf(options.future, timeColumn, 'future', kinds).columns;
  const revive = (answer) => {
    const { table } = answer;
    if (!(table instanceof Table)) return answer;
    const kind = kinds[table.names[1]] ?? PLAIN;
    for (const name of table.names.filter((name) => Array.isArray(table.columns[name])).slice(1)) {
      table.columns[name] = table.columns[name].map((time) => timeOf(kind, time));
    }
    const series = table.series();
    return { ...answer, ...(answer.series && { series }), ...(answer.times && { times: series[0].times }) };
  };
  return { data: columns, options: future ? { ...options, future } : options, revive };
}
