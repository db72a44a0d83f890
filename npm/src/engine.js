// The module: how it is started, called, and started again after a failure.

import { ForetellError, refuse } from './error.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Where the module comes from where `init` is told nothing; each entry of the package sets its own. */
let usualSource = null;
/** The compiled module, or a promise of it. */
let compiled = null;
/** The module of the present instance. */
let running = null;
let instance = null;
/** How many times the module was started: models of an instance before are lost. */
let generation = 0;
let busy = false;
let listener = null;
/** What the instance was told of SIMD and of the pool of buffers. */
let told = { simd: true, pool: true };

/** What takes the module's place, where an entry says so: the addon of addon.js. */
let addon = null;

export function setAddon(engine) {
  addon = engine;
}

export function setUsualSource(source) {
  usualSource = source;
}

/** Compiles the module: from the package's own file, or from a URL, a response, bytes or a module. */
export async function init(source) {
  if (addon) return;
  if (source !== undefined || !compiled) {
    const compiling = (async () => compile(source ?? (await usualSource())))();
    const before = compiled;
    compiled = compiling;
    try {
      await compiling;
    } catch (error) {
      if (compiled === compiling) compiled = before;
      throw error;
    }
  }
  const module = await compiled;
  if (!instance || module !== running) await start(module);
}

async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const isAddress = typeof source === 'string' || source instanceof URL || (typeof Request !== 'undefined' && source instanceof Request);
  const response = isAddress ? await fetch(source) : await source;
  if (typeof Response === 'undefined' || !(response instanceof Response)) {
    throw refuse('init', 'init takes nothing, a URL, a Response, bytes or a WebAssembly.Module; give one of these');
  }
  if (!response.ok) {
    throw refuse('init', `the module could not be fetched from ${response.url} (${response.status}); serve foretell.wasm there, or import foretell/inline`);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Functions that crates of the module declare for generators of code, and which nothing calls. */
function declared(module) {
  const unused = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    if (!from.startsWith('__wbindgen')) continue;
    unused[from] ??= {};
    unused[from][name] = () => {
      throw new Error(`${from}.${name} is not there`);
    };
  }
  return unused;
}

/** Starts the module; not at once, which Chromium refuses of modules above 8 MB on a page's own thread. */
async function start(module) {
  const imports = {
    ...declared(module),
    foretell: {
      now: () => performance.now(),
      heard: (place, length) => {
        if (!listener) return 0;
        const text = decoder.decode(new Uint8Array(instance.exports.memory.buffer, place >>> 0, length >>> 0));
        return listener(JSON.parse(text)) ? 1 : 0;
      },
    },
  };
  const started = await WebAssembly.instantiate(module, imports);
  // Of several that wait, the first one counts.
  if (instance && module === running) return;
  instance = started;
  running = module;
  generation += 1;
  told = { simd: true, pool: true };
}

/** The number of the present instance. */
export function currentGeneration() {
  return addon ? addon.generation : generation;
}

/** How many threads can compute: a module of WebAssembly has one. */
export function mostThreads() {
  return addon ? addon.threads : 1;
}

/**
 * Sends a request, and gives its answer: `{ json, bytes }`.
 * `options`: `onProgress` hears each step, `signal` ends the work, `simd`, `pool` and `threads` are how it is computed.
 */
export async function call(request, bytes = new Uint8Array(), options = {}) {
  if (addon) return addon.call(request, bytes, options);
  do await init();
  while (!instance);
  if (options.signal?.aborted) throw options.signal.reason;
  return exchange(request, bytes, options);
}

function exchange(request, bytes, { onProgress, signal, simd = true, pool = true }) {
  if (busy) {
    throw refuse('onProgress', 'the engine is at work; call it after the promise of the work before is settled, or start another one by foretell/worker', 'busy');
  }
  busy = true;
  let raised = null;
  listener = (step) => {
    if (raised) return true;
    try {
      if (onProgress?.(step) === false) return true;
    } catch (error) {
      raised = { error };
    }
    return raised !== null || signal?.aborted === true;
  };
  try {
    if (told.simd !== simd || told.pool !== pool) {
      send({ op: 'settings', simd, pool }, new Uint8Array());
      told = { simd, pool };
    }
    const answer = send(request, bytes);
    if (raised) throw raised.error;
    if (signal?.aborted) throw signal.reason;
    if (answer.json.error) throw new ForetellError(answer.json.error);
    return answer;
  } finally {
    busy = false;
    listener = null;
  }
}

/** A request as the module reads it: its work comes first. */
export function worded({ op, ...asked }) {
  return JSON.stringify(Object.keys(asked).length > 0 ? { op, asked } : { op });
}

function send(request, bytes) {
  const json = encoder.encode(worded(request));
  const length = 4 + json.length + bytes.length;
  const { exports } = instance;
  try {
    // A place is a signed number here, and unsigned in the module.
    const place = exports.allocate(length) >>> 0;
    const message = new Uint8Array(exports.memory.buffer, place, length);
    new DataView(exports.memory.buffer).setUint32(place, json.length, true);
    message.set(json, 4);
    message.set(bytes, 4 + json.length);
    return taken(exports.answer(place, length) >>> 0);
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
    throw restarted(error);
  }
}

/** Copies an answer out of the module's memory. */
function taken(place) {
  const { exports } = instance;
  const view = new DataView(exports.memory.buffer);
  const length = view.getUint32(place, true);
  const answer = new Uint8Array(exports.memory.buffer, place + 4, length).slice();
  exports.release(place);
  return parted(answer);
}

/** The parts of an answer. */
export function parted(answer) {
  const json = new DataView(answer.buffer, answer.byteOffset).getUint32(0, true);
  return { json: JSON.parse(decoder.decode(answer.subarray(4, 4 + json))), bytes: answer.slice(4 + json) };
}

/** Leaves an instance that failed, so that the next work starts another one, and gives the error that says so. */
function restarted(error) {
  let why = '';
  try {
    const { exports } = instance;
    const place = exports.failure() >>> 0;
    const length = new DataView(exports.memory.buffer).getUint32(place, true);
    why = decoder.decode(new Uint8Array(exports.memory.buffer, place + 4, length));
  } catch {
    // What is left of the instance says nothing.
  }
  instance = null;
  generation += 1;
  return failed(why || error.message);
}

/** The error of an engine that failed, and has lost its models. */
export function failed(cause) {
  return new ForetellError({
    code: 'failure',
    message: `the engine failed: ${cause}; it was started again without its models: fit or load them again, and report this`,
    advice: 'it was started again without its models: fit or load them again, and report this',
  });
}

/** The bytes of the module's memory. */
export function memoryBytes() {
  return instance ? instance.exports.memory.buffer.byteLength : 0;
}
