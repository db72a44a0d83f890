// `foretell/worker` in Node.

import { Worker } from 'node:worker_threads';
import { refuse } from './error.js';
import { EngineWorker } from './worker-core.js';

export { ForetellError } from './error.js';

/** Starts a thread with the engine; `source` is what `init` takes. */
export function startWorker(source) {
  const open = (hear, fail) => {
    const worker = new Worker(new URL('./thread-node.js', import.meta.url));
    worker.on('message', hear);
    worker.on('error', ({ message }) => fail(refuse('worker', `the worker failed: ${message}; start another one`, 'stopped')));
    return { post: (message) => worker.postMessage(message), end: () => worker.terminate() };
  };
  return new EngineWorker(open, source instanceof URL ? source.href : source).start();
}
