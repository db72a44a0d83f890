// Every model that needs no column forecasts as the native program does.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { ADDON, ENTRY, MODULE, PACKAGE, load, values } from './support.js';

const { about } = await load(ENTRY);
const { call, worded } = await load('engine.js');

/** Those that need something else: a language model, a network within, columns that are known in advance. */
const LEFT_OUT = ['TimeLLM', 'HINT'];

const ids = (rows) => [...Array(rows).fill('a'), ...Array(rows).fill('b')];
const rows = 72;
const data = {
  unique_id: ids(rows),
  // Days: Prophet's seasons are those of a calendar.
  ds: [...Array(2 * rows).keys()].map((row) => new Date(Date.UTC(2024, 0, 1 + (row % rows))).toISOString().slice(0, 10)),
  y: [...values(rows), ...values(rows).map((value, row) => 50 + 0.5 * value + (row % 7))],
};

/** The requests to train a model and to forecast with it. */
const requests = (model, number) => {
  const spec = { model };
  return [
    { op: 'fit', tables: { data }, models: [spec], h: 4, input_size: 16, season: 4 },
    { op: 'predict', model: number, tables: { data } },
  ];
};

test('all models forecast as the native program', { skip: !process.env.FORETELL_NATIVE && 'FORETELL_NATIVE names no program' }, async () => {
  const { models } = await about();
  const named = models.filter((model) => !LEFT_OUT.includes(model));
  assert.ok(named.length > (MODULE === 'foretell.wasm' ? 60 : 30), `${named}`);
  // What networks are told to be small: steps of their training, series of those that see all at once.
  const settings = new Map();
  for (const model of named) {
    for (const [name, value] of [['max_steps', 2], ['n_series', 2], ['batch_size', 4], ['windows_batch_size', 16]]) {
      const spec = { ...settings.get(model), [name]: value };
      const known = await call({ op: 'check', model: { model, ...spec }, h: 4, input_size: 16 }).then(() => true, () => false);
      if (known) settings.set(model, spec);
    }
  }
  const all = named.flatMap((model, place) => {
    const [fit, predict] = requests(model, place + 1);
    fit.models[0] = { model, ...settings.get(model) };
    return [fit, predict];
  });
  const { stdout, status } = spawnSync(process.env.FORETELL_NATIVE, {
    input: all.map((request) => `${worded(request)}\n`).join(''), maxBuffer: 1 << 28, encoding: 'utf8',
  });
  assert.equal(status, 0);
  const native = stdout.trim().split('\n').map((line) => JSON.parse(line));
  const worst = [];
  for (const [place, model] of named.entries()) {
    const [fitted, expected] = native.slice(2 * place, 2 * place + 2);
    if (fitted.error) assert.fail(`${model}: ${fitted.error.message}`);
    const { json: own } = await call(all[2 * place]);
    const { json: answer } = await call({ ...all[2 * place + 1], model: own.model });
    await call({ op: 'free', model: own.model });
    const scale = Math.max(...data.y);
    let difference = 0;
    for (const name of answer.table.names.slice(2)) {
      answer.table.columns[name].forEach((value, row) => {
        const gap = Math.abs(value - expected.table.columns[name][row]) / scale;
        if (!(gap <= difference)) difference = gap;
      });
    }
    worst.push([model, difference]);
  }
  worst.sort((a, b) => b[1] - a[1]);
  console.log(worst.slice(0, 8).map(([model, difference]) => `${model} ${difference.toExponential(1)}`).join(', '));
  // The addon has the program's code, on other threads.
  assert.deepEqual(worst.filter(([, difference]) => !(ADDON ? difference === 0 : difference < 1e-5)), []);
});

test('the fixture is read from the package', () => {
  assert.ok(readFileSync(join(PACKAGE, 'package.json'), 'utf8').includes('"foretell"'));
});
