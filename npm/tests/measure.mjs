// Times of the module beside the native program, in turns: `node npm/tests/measure.mjs [NATIVE]`, NATIVE the example `answer` of
// crates/requests, which runs with FORETELL_SIMD=avx2 on one thread.

import { spawnSync } from 'node:child_process';

import { load, panel, values } from './support.js';

const least = (times) => Math.min(...times).toFixed(2);
const timed = async (work) => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const start = await timed(async () => {
  const { forecast } = await load('node.js');
  await forecast(values(40), { h: 4, models: ['SeasonalNaive'] });
});
console.log(`start (import, compile, first forecast): ${start.toFixed(0)} ms`);

const { call, worded } = await load('engine.js');
const native = process.argv[2];
const rows = panel(8, 200);
const data = Object.fromEntries(['unique_id', 'ds', 'y'].map((name) => [name, rows.map((row) => row[name])]));
const fit = (model) => ({ op: 'fit', tables: { data }, models: [model], h: 12, input_size: 36 });
const predict = (model) => ({ op: 'predict', model, tables: { data: { ds: data.ds.slice(0, 200), y: data.y.slice(0, 200) } } });
const LSTM = { model: 'LSTM', max_steps: 2 };
const steps = (count) => fit({ model: 'NHITS', max_steps: count });

/** Milliseconds of a step of NHITS, and of a forecast of LSTM, by a way of sending requests one after the other. */
const round = async (answer) => {
  const [few, many] = [await answer(steps(2)), await answer(steps(12))];
  const { model } = await answer(fit(LSTM));
  await answer(predict(model.number));
  const [first, second, third] = [await answer(predict(model.number)), await answer(predict(model.number)), await answer(predict(model.number))];
  return { step: (many.time - few.time) / 10, forecast: Math.min(first.time, second.time, third.time) };
};
const here = (simd) => async (request) => {
  let json;
  const time = await timed(async () => ({ json } = await call(request, undefined, { simd })));
  return { time, model: { number: json.model } };
};
const there = () => {
  const requests = [steps(2), steps(12), fit(LSTM), predict(3), predict(3), predict(3), predict(3)];
  const input = requests.map((request) => `${worded(request)}\n`).join('');
  const { stderr } = spawnSync(native, { input, encoding: 'utf8', env: { ...process.env, FORETELL_SIMD: 'avx2' }, maxBuffer: 1 << 28 });
  const times = stderr.trim().split('\n').map(Number);
  return { step: (times[1] - times[0]) / 10, forecast: Math.min(...times.slice(4)) };
};
const ways = { simd128: () => round(here(true)), scalar: () => round(here(false)), ...(native && { 'native avx2': there }) };
const found = Object.fromEntries(Object.keys(ways).map((name) => [name, { step: [], forecast: [] }]));
for (let turn = 0; turn < 5; turn += 1) {
  for (const [name, way] of Object.entries(ways)) {
    const { step, forecast } = await way();
    found[name].step.push(step);
    found[name].forecast.push(forecast);
  }
}
for (const [name, { step, forecast }] of Object.entries(found)) {
  console.log(`${name}: a step of NHITS ${least(step)} ms, a forecast of LSTM ${least(forecast)} ms (the least of 5 turns)`);
}
