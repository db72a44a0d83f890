// The entry for browsers and their workers: the module is fetched from beside this file, where bundlers put it.

import { setUsualSource } from './engine.js';

setUsualSource(async () => new URL('./foretell.wasm', import.meta.url));

export * from './api.js';
