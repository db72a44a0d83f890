// The first example of the README runs, and the types are those of a package that is there.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'node:test';

import { PACKAGE, load } from './support.js';

test('the first example of the README runs', async () => {
  const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
  const [, example] = readme.match(/```js\n([\s\S]*?)```/);
  // A file of the package may import it by its name.
  const place = join(PACKAGE, 'src/readme-example.mjs');
  writeFileSync(place, `${example}\nexport { mean, lower, score };\n`);
  const { mean, lower, score } = await import(pathToFileURL(place).href);
  assert.equal(mean.length, 7);
  assert.ok(mean.every((value, step) => lower[80][step] <= value && value > 5 && value < 60), `${mean}`);
  assert.match(score.sentence, /MASE/);
});

test('the types declare what the package exports', async () => {
  const exported = Object.keys(await load('node.js')).sort();
  const types = readFileSync(join(PACKAGE, 'src/index.d.ts'), 'utf8');
  const declared = [...types.matchAll(/export declare (?:function|class) (\w+)/g)].map(([, name]) => name).sort();
  assert.deepEqual(declared, exported);
});
