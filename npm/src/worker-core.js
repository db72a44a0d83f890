// The engine in a worker, with the functions of the package: a page or a server goes on while it computes.

import { ForetellError, refuse } from './error.js';
import { Table, sendable } from './tables.js';

/** A result with its tables as tables. */
function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value) || value instanceof Date) return value;
  if (value.isTable) return new Table(value.names, value.columns, value.models, value.freq);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, revived(part)]));
}

const errorOf = (told) => (told.code === undefined ? Object.assign(new Error(told.message), { name: told.name }) : new ForetellError(told));

const STOPPED = 'the worker was ended, and its models with it; fit or load them again';

/** Models in the worker. */
class RemoteModel {
  #engine;
  #kept;

  constructor(engine, kept) {
    this.#engine = engine;
    this.#kept = { number: kept.model, thread: engine.thread };
    Object.assign(this, kept.about);
    this.told = kept.told;
  }

  #ask(work, ...given) {
    if (this.#kept.thread !== this.#engine.thread) return Promise.reject(refuse('model', STOPPED, 'no_model'));
    const before = [this.#kept.number];
    return given.length > 0 ? this.#engine.askAbout(work, ...given, before) : this.#engine.ask(work, before);
  }

  predict(data, options = {}) {
    return this.#ask('predict', data, options);
  }

  decompose(data, options = {}) {
    return this.#ask('decompose', data, options);
  }

  save() {
    return this.#ask('save');
  }

  free() {
    return this.#kept.thread === this.#engine.thread ? this.#ask('free') : Promise.resolve();
  }
}

/** The engine in a worker. `open(hear, fail)` starts one and gives `{ post, end }`. */
export class EngineWorker {
  #open;
  #source;
  #waiting = new Map();
  #next = 1;
  thread = null;

  constructor(open, source) {
    this.#open = open;
    this.#source = source;
  }

  /** Starts the worker, and the engine in it. */
  async start() {
    const thread = this.#open(
      (message) => this.#hear(message),
      (error) => {
        if (this.thread === thread) this.thread = null;
        this.#stop(error);
      },
    );
    this.thread = thread;
    await this.ask('init', [this.#source]);
    return this;
  }

  #hear({ id, step, result, error }) {
    const work = this.#waiting.get(id);
    if (!work) return;
    if (step) {
      if (work.onProgress?.(step) === false) this.#abort(refuse('onProgress', 'the work was ended by onProgress; start it again', 'stopped'));
      return;
    }
    this.#waiting.delete(id);
    work.done();
    if (error) work.reject(errorOf(error));
    else work.resolve(revived(result));
  }

  /** Refuses all work that is waited for. */
  #stop(error) {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject, done } of waiting) {
      done();
      reject(error);
    }
  }

  /** Ends the worker in the middle of its work, and starts another one. */
  #abort(reason) {
    this.thread?.end();
    this.#stop(reason);
    this.start().catch(() => {});
  }

  /** Has the worker do something. */
  ask(work, given) {
    const options = given.length > 1 || work === 'load' ? given.at(-1) : undefined;
    const isOptions = options !== null && typeof options === 'object' && !ArrayBuffer.isView(options);
    const { onProgress, signal, ...sent } = isOptions ? options : {};
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (!this.thread) return Promise.reject(refuse('worker', STOPPED, 'stopped'));
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const abort = () => this.#abort(signal.reason);
      signal?.addEventListener('abort', abort, { once: true });
      const done = () => signal?.removeEventListener('abort', abort);
      this.#waiting.set(id, { resolve, reject, onProgress, done });
      try {
        this.thread.post({ id, work, given: isOptions ? [...given.slice(0, -1), sent] : given, hears: Boolean(onProgress) });
      } catch (error) {
        this.#waiting.delete(id);
        done();
        reject(error);
      }
    });
  }

  /** Has the worker do something with data. */
  async askAbout(work, data, options, before = []) {
    const sent = sendable(data, options);
    return sent.revive(await this.ask(work, [...before, sent.data, sent.options]));
  }

  look(data, options = {}) {
    return this.askAbout('look', data, options);
  }

  forecast(data, options = {}) {
    return this.askAbout('forecast', data, options);
  }

  crossValidate(data, options = {}) {
    return this.askAbout('crossValidate', data, options);
  }

  anomalies(data, options = {}) {
    return this.askAbout('anomalies', data, options);
  }

  evaluate(actual, forecasts, options = {}) {
    return this.ask('evaluate', [actual, forecasts, options]);
  }

  about() {
    return this.ask('about', []);
  }

  async fit(data, options = {}) {
    return new RemoteModel(this, await this.askAbout('fit', data, options));
  }

  async load(bytes, options = {}) {
    return new RemoteModel(this, await this.ask('load', [bytes, options]));
  }

  /** Ends the worker. */
  async terminate() {
    const { thread } = this;
    this.thread = null;
    await thread?.end();
    this.#stop(refuse('worker', STOPPED, 'stopped'));
  }
}
