// Writes the module of a package as text into it, for `foretell/inline`, and tells its sizes.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const folder = join(process.argv[2], 'src');
const module = readFileSync(join(folder, 'foretell.wasm'));
writeFileSync(join(folder, 'module-base64.js'), `export const MODULE = '${module.toString('base64')}';\n`);
const shown = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
const [gzip, brotli] = [gzipSync(module, { level: 9 }), brotliCompressSync(module)];
console.log(`the module takes ${shown(module.length)}, ${shown(gzip.length)} by gzip, ${shown(brotli.length)} by brotli`);
