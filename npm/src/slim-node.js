// The entry of the small module for Node, Bun and Deno: without the networks that are trained.

import { setUsualSource } from './engine.js';

setUsualSource(async () => {
  const { readFile } = await import('node:fs/promises');
  return readFile(new URL('./foretell-slim.wasm', import.meta.url));
});

export * from './api.js';
