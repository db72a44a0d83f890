// What the package offers; node.js, browser.js and inline.js say where the module comes from.

import { call, currentGeneration, init, mostThreads } from './engine.js';
import { ForetellError, refuse } from './error.js';
import { Table, given, snakeKeys, tableOf, tablesOf } from './tables.js';

export { ForetellError, Table, init };

/** Options of a call that the engine is not told. */
const ASIDE = ['future', 'static', 'reading', 'end', 'idCol', 'timeCol', 'targetCol', 'onProgress', 'signal', 'simd', 'pool', 'threads'];

const own = (options) => snakeKeys(Object.fromEntries(Object.entries(options).filter(([name, value]) => !ASIDE.includes(name) && value !== undefined)));

/** Options of a call that trains which the engine takes as one, by their names there: how steps are computed, and what models keep. */
const GROUPS = { step: ['low_memory', 'precision'], kept: ['non_negative', 'integer'] };

/** The options of a call that trains. */
function ownOfTraining(options) {
  const all = own(options);
  for (const [group, names] of Object.entries(GROUPS)) {
    const given = names.filter((name) => name in all);
    all[group] = Object.fromEntries(given.map((name) => [name, all[name]]));
    for (const name of given) delete all[name];
  }
  return all;
}

/** How a table is read: its columns, frequency and seasons, and the last rows of each series. */
export async function look(data, options = {}) {
  const { tables, kinds, bytes } = await given(data, options);
  const { json } = await call({ op: 'look', tables, ...own(options) }, bytes, options);
  const { id_col: idCol, time_col: timeCol, target_col: targetCol, ...understood } = json.understood;
  return { ...understood, idCol, timeCol, targetCol, table: tableOf(json.table, kinds), told: json.told };
}

/** The best forecast of a series or of many: see README.md. */
export async function forecast(data, options = {}) {
  const { tables, kinds, bytes } = await given(data, options);
  const { json, bytes: report } = await call({ op: 'forecast', tables, ...ownOfTraining(options) }, bytes, options);
  const table = tableOf(json.table, kinds);
  const series = table.series();
  const { rows, ...board } = json.board;
  const { sentence } = board;
  const row = rows.find((row) => row.model === table.models[0]?.model) ?? null;
  const [first] = series;
  return {
    mean: first.mean,
    lower: first.lower,
    upper: first.upper,
    quantiles: first.quantiles,
    times: first.times,
    series,
    table,
    model: table.models[0].model,
    weights: Object.fromEntries(rows.filter((row) => row.weight > 0 && row.model !== table.models[0].model).map((row) => [row.model, row.weight])),
    score: row && { mase: row.mase, scaledCrps: row.scaled_crps, coverage: row.coverage, sentence },
    leaderboard: rows.map(({ scaled_crps: scaledCrps, ...others }) => ({ ...others, scaledCrps })),
    board,
    told: json.told,
    ...(options.report && { report }),
  };
}

/** Models that are trained. */
export class Model {
  #number;
  #generation;
  #settings;

  constructor(kept, settings = {}) {
    this.#number = kept.model;
    this.#generation = currentGeneration();
    this.#settings = settings;
    Object.assign(this, kept.about);
    this.told = kept.told;
  }

  /** Trains models. */
  static async fit(data, options = {}) {
    const { tables, bytes } = await given(data, options);
    const { json } = await call({ op: 'fit', tables, ...ownOfTraining(options) }, bytes, options);
    return new Model(json, settingsOf(options));
  }

  /** Loads the bytes of a saved directory (zipped), or of `save`. */
  static async load(bytes, options = {}) {
    const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
    if (!ArrayBuffer.isView(view)) throw refuse('bytes', 'a model is loaded from bytes; give an ArrayBuffer or a Uint8Array of the zipped directory');
    const taken = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    const { json } = await call({ op: 'load' }, taken, options);
    return new Model(json, settingsOf(options));
  }

  get #own() {
    if (this.#generation !== currentGeneration()) {
      throw new ForetellError({
        code: 'no_model',
        message: 'there is no such model: it was freed, or the module was started again after a failure; fit or load it again',
        advice: 'fit or load it again',
      });
    }
    return this.#number;
  }

  async #ask(op, data, options) {
    const { tables, kinds, bytes } = await given(data, options);
    const { json } = await call({ op, model: this.#own, tables, ...own(options) }, bytes, { ...this.#settings, ...options });
    return { table: tableOf(json.table, kinds), told: json.told };
  }

  /** Forecasts the steps after the end of each series. */
  async predict(data, options = {}) {
    const { table, told } = await this.#ask('predict', data, options);
    return { table, series: table.series(), told };
  }

  /** The parts of forecasts: trend, seasons, and others that a model has. */
  async decompose(data, options = {}) {
    return this.#ask('decompose', data, options);
  }

  /** The bytes of a zip archive of the models' directory, which the command line, Python and `Model.load` read. */
  async save() {
    const { bytes } = await call({ op: 'save', model: this.#own }, undefined, this.#settings);
    return bytes;
  }

  /** Gives back the memory of the models. */
  async free() {
    if (this.#generation !== currentGeneration()) return;
    await call({ op: 'free', model: this.#number });
    this.#generation = -1;
  }
}

const settingsOf = ({ simd, pool, threads }) => ({ simd, pool, threads });

/** Names of the options of a training, as the engine has them: the others are of what is done with it. */
const TRAINING = ['models', 'h', 'input_size', 'season', 'val_size', 'intervals', 'local_scaler', ...Object.keys(GROUPS)];

async function trainingOf(data, options) {
  const { tables, kinds, bytes } = await given(data, options);
  const all = ownOfTraining(options);
  const training = { tables };
  for (const name of TRAINING) {
    if (all[name] !== undefined) training[name] = all[name];
    delete all[name];
  }
  return { training, rest: all, kinds, bytes };
}

/** Forecasts the ends of series by models that have not seen them, and scores that. */
export async function crossValidate(data, options = {}) {
  const { training, rest, kinds, bytes } = await trainingOf(data, options);
  const { json } = await call({ op: 'cross_validate', training, ...rest }, bytes, options);
  return { table: tableOf(json.table, kinds), scores: json.scores, told: json.told };
}

/** Marks the values outside of the intervals of models that have not seen them. */
export async function anomalies(data, options = {}) {
  const { training, rest, kinds, bytes } = await trainingOf(data, options);
  const { json } = await call({ op: 'anomalies', training, ...rest }, bytes, options);
  return { table: tableOf(json.table, kinds), told: json.told };
}

/** Scores of forecasts beside the actual values: `evaluate([1, 2], { mine: [1, 3] })`. */
export async function evaluate(actual, forecasts, options = {}) {
  const list = (values, name) => tablesOf(values ?? [], {}).tables.values ?? refuseList(name);
  const taken = Object.fromEntries(Object.entries(forecasts ?? {}).map(([name, values]) => [name, list(values, name)]));
  const { json } = await call({ op: 'evaluate', actual: list(actual, 'actual'), forecasts: taken, ...own(options) });
  return json.scores;
}

function refuseList(name) {
  throw refuse(name, `${name} must be an array of numbers; give one`);
}

/** The version, the models that there are, and the SIMD level. */
export async function about() {
  const { json } = await call({ op: 'about' });
  return json;
}

/** Models under the options that the engine was announced with; the same as `Model`, held by one object. */
export class NeuralForecaster {
  #options;
  #settings;
  #model = null;

  constructor({ models, numThreads = mostThreads(), simdEnabled = true, backend = 'cpu', memoryPool = true, lowMemory = false, ...options } = {}) {
    if (backend !== 'cpu') {
      const which = backend === 'cuda' ? 'CUDA' : JSON.stringify(backend);
      throw refuse('backend', `backend: there is no ${which} here, the engine computes on the CPU alone; set backend: 'cpu'`, 'backend');
    }
    if (!Number.isInteger(numThreads) || numThreads < 1) {
      throw refuse('numThreads', `numThreads is ${numThreads}; give a whole number from 1`);
    }
    for (const [name, value] of Object.entries({ simdEnabled, memoryPool, lowMemory })) {
      if (typeof value !== 'boolean') throw refuse(name, `${name} is ${value}; give true or false`);
    }
    if (!Array.isArray(models) || models.length === 0) {
      throw refuse('models', "no models are named; name some, as ['NHITS']");
    }
    this.#options = { models, lowMemory, ...options };
    // Buffers that are kept for the next owner can be saved as well.
    this.#settings = { simd: simdEnabled, pool: memoryPool && !lowMemory, threads: numThreads };
    /** Threads at work: a module of WebAssembly has one, however many are allowed. */
    this.threads = Math.min(numThreads, mostThreads());
  }

  get model() {
    if (!this.#model) throw refuse('fit', 'nothing is trained yet; call fit or load first', 'not_fitted');
    return this.#model;
  }

  async fit(data, options = {}) {
    const fitted = await Model.fit(data, { ...this.#options, ...options, ...this.#settings });
    await this.#model?.free();
    this.#model = fitted;
    return this;
  }

  async predict(data, options = {}) {
    return this.model.predict(data, options);
  }

  async crossValidate(data, options = {}) {
    return crossValidate(data, { ...this.#options, ...options, ...this.#settings });
  }

  async save() {
    return this.model.save();
  }

  /** Takes over saved models in place of its own. */
  async load(bytes) {
    const loaded = await Model.load(bytes, this.#settings);
    await this.#model?.free();
    this.#model = loaded;
    return this;
  }

  async free() {
    await this.#model?.free();
    this.#model = null;
  }
}
