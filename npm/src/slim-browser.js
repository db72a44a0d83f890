// The entry of the small module for browsers: without the networks that are trained.

import { setUsualSource } from './engine.js';

setUsualSource(async () => new URL('./foretell-slim.wasm', import.meta.url));

export * from './api.js';
