// The addon of Node in the module's place: one request at a time, on threads of its own, without blocking the event loop.

import { failed, parted, worded } from './engine.js';
import { ForetellError } from './error.js';

export class AddonEngine {
  #engine;
  /** The work before, done or refused. */
  #before = Promise.resolve();
  #told = '';
  /** How many times it was started: models of a start before are lost. */
  generation = 1;

  constructor(engine) {
    this.#engine = engine;
    this.threads = engine.threads();
  }

  /** Sends a request when the works before are done; as `call` of engine.js. */
  call(request, bytes, options) {
    const work = this.#before.then(() => this.#work(request, bytes, options));
    this.#before = work.catch(() => {});
    return work;
  }

  async #work(request, bytes, { onProgress, signal, simd = true, pool = true, threads } = {}) {
    if (signal?.aborted) throw signal.reason;
    const settings = { op: 'settings', simd, pool, ...(threads !== undefined && { threads }) };
    if (this.#told !== worded(settings)) {
      const { json } = await this.#answer(settings, new Uint8Array(), null);
      if (json.error) throw new ForetellError(json.error);
      this.#told = worded(settings);
      // An abort meanwhile is not heard of again.
      if (signal?.aborted) throw signal.reason;
    }
    let raised = null;
    const heard = (text) => {
      if (raised || signal?.aborted) return true;
      try {
        return onProgress(JSON.parse(text)) === false || signal?.aborted === true;
      } catch (error) {
        raised = { error };
        return true;
      }
    };
    const stop = () => this.#engine.stop();
    signal?.addEventListener('abort', stop, { once: true });
    const answer = await this.#answer(request, bytes, onProgress ? heard : null).finally(() => signal?.removeEventListener('abort', stop));
    if (raised) throw raised.error;
    if (signal?.aborted) throw signal.reason;
    if (answer.json.error) throw new ForetellError(answer.json.error);
    return answer;
  }

  async #answer(request, bytes, heard) {
    const json = new TextEncoder().encode(worded(request));
    const message = new Uint8Array(4 + json.length + bytes.length);
    new DataView(message.buffer).setUint32(0, json.length, true);
    message.set(json, 4);
    message.set(bytes, 4 + json.length);
    try {
      return parted(await this.#engine.answer(message, heard));
    } catch (error) {
      this.generation += 1;
      this.#told = '';
      throw failed(error.message);
    }
  }
}
