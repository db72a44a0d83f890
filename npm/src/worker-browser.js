// `foretell/worker` in browsers.

import { refuse } from './error.js';
import { EngineWorker } from './worker-core.js';

export { ForetellError } from './error.js';

/** Starts a worker with the engine; `source` is what `init` takes. */
export function startWorker(source) {
  const open = (hear, fail) => {
    const worker = new Worker(new URL('./thread.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => hear(data);
    worker.onerror = ({ message }) => fail(refuse('worker', `the worker failed: ${message}; start another one`, 'stopped'));
    return { post: (message) => worker.postMessage(message), end: () => worker.terminate() };
  };
  return new EngineWorker(open, source instanceof URL ? source.href : source).start();
}
