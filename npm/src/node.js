// The entry for Node, Bun and Deno: the module is a file of the package.

import { setUsualSource } from './engine.js';

setUsualSource(async () => {
  const { readFile } = await import('node:fs/promises');
  return readFile(new URL('./foretell.wasm', import.meta.url));
});

export * from './api.js';
