// Writes the module of a package as text into it, for `foretell/inline`, and tells the sizes of its modules.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const folder = join(process.argv[2], 'src');
const shown = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
for (const name of ['foretell.wasm', 'foretell-slim.wasm']) {
  const module = readFileSync(join(folder, name));
  const [gzip, brotli] = [gzipSync(module, { level: 9 }), brotliCompressSync(module)];
  console.log(`${name} takes ${shown(module.length)}, ${shown(gzip.length)} by gzip, ${shown(brotli.length)} by brotli`);
}
const text = readFileSync(join(folder, 'foretell.wasm')).toString('base64');
writeFileSync(join(folder, 'module-base64.js'), `export const MODULE = '${text}';\n`);
