import assert from 'node:assert/strict';
import test from 'node:test';

import { load, panel, temporal, values } from './support.js';

const { startWorker, ForetellError } = await load('worker-node.js');
const { forecast } = await load('node.js');

test('a worker answers as the package does, and the thread goes on meanwhile', async () => {
  const engine = await startWorker();
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const options = { h: 4, levels: [80] };
  const away = await engine.forecast(panel(2, 60), options);
  clearInterval(timer);
  assert.ok(turns > 0);
  const here = await forecast(panel(2, 60), options);
  assert.deepEqual(away.mean, here.mean);
  assert.deepEqual(away.table.series()[1].upper, here.table.series()[1].upper);
  const steps = [];
  const model = await engine.fit(values(40), { models: [{ model: 'NLinear', max_steps: 3 }], h: 2, onProgress: (step) => void steps.push(step.step) });
  assert.equal(steps.length, 3);
  const { series } = await model.predict(values(40));
  const loaded = await engine.load(await model.save());
  assert.deepEqual((await loaded.predict(values(40))).series, series);
  await model.free();
  await assert.rejects(engine.forecast(values(40), { h: 'many' }), (error) => error instanceof ForetellError && error.setting !== undefined);
  await engine.terminate();
  await assert.rejects(engine.forecast(values(40), { h: 2 }), { code: 'stopped' });
});

test("a worker takes times of Temporal's, which no clone carries", async () => {
  const engine = await startWorker();
  const Day = temporal('PlainDate');
  const data = panel(2, 40, (day) => new Day(new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10)));
  const { times, series, table } = await engine.forecast(data, { h: 2, models: ['Naive'] });
  for (const found of [times, series[1].times, table.columns.ds.slice(2)]) {
    assert.deepEqual(found.map((time) => [time instanceof Day, String(time)]), [[true, '2024-02-10'], [true, '2024-02-11']]);
  }
  const model = await engine.fit(data, { models: ['Naive'], h: 1 });
  assert.equal(String((await model.predict(data)).series[0].times[0]), '2024-02-10');
  const { table: windows } = await engine.crossValidate(data, { models: ['Naive'], h: 1 });
  assert.equal(String(windows.columns.cutoff[0]), '2024-02-08');
  await engine.terminate();
});

test('a signal ends the work of a worker in its middle', async () => {
  const engine = await startWorker();
  const model = await engine.fit(values(40), { models: ['Naive'], h: 2 });
  const controller = new AbortController();
  const work = engine.fit(values(400), {
    models: [{ model: 'NHITS', max_steps: 100000 }], h: 2, signal: controller.signal, onProgress: () => controller.abort(new Error('enough')),
  });
  await assert.rejects(work, /enough/);
  // Another worker was started, without the models of the first.
  await assert.rejects(model.predict(values(40)), { code: 'no_model' });
  assert.equal((await engine.forecast(values(40), { h: 2, models: ['Naive'] })).mean.length, 2);
  await engine.terminate();
});
