// What a module is made of: its sections, and the largest pieces of its data, in bytes and by brotli.
//
//   node npm/tests/sizes.mjs target/npm/foretell/src/foretell.wasm [PIECES]

import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';

const [path, pieces = '12'] = process.argv.slice(2);
const bytes = readFileSync(path);
const number = (at) => {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return [value, at];
  }
};
const row = (name, part) => console.log(`| ${name} | ${part.length} | ${brotliCompressSync(part).length} |`);

/** The segments of data, each with the place in memory where it stands. */
function segments(at) {
  const found = [];
  let [count, next] = number(at);
  for (; count > 0; count--) {
    const [kind, expression] = number(next);
    let place = 0;
    next = expression;
    if (kind === 0) {
      [place, next] = number(expression + 1);
      next += 1;
    }
    const [length, start] = number(next);
    found.push([place, bytes.subarray(start, start + length)]);
    next = start + length;
  }
  return found;
}

const NAMES = { 1: 'types', 3: 'functions', 7: 'exports', 9: 'references', 10: 'code', 11: 'data' };
console.log('| part | bytes | by brotli |\n|---|---|---|');
row('all', bytes);
let data = [];
for (let at = 8; at < bytes.length; ) {
  const id = bytes[at];
  const [length, start] = number(at + 1);
  if (NAMES[id]) row(NAMES[id], bytes.subarray(start, start + length));
  if (id === 11) data = segments(start);
  at = start + length;
}
data.sort(([, a], [, b]) => b.length - a.length);
for (const [place, part] of data.slice(0, Number(pieces))) row(`data at ${place}`, part);
