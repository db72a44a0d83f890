import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { ADDON, ENTRY, MODULE, PACKAGE, draws, load, panel, temporal, values } from './support.js';

const { Model, NeuralForecaster, ForetellError, about, anomalies, crossValidate, evaluate, forecast, init, look } = await load(ENTRY);

/** What needs networks that are trained, which the small module has not. */
const NETWORKS = { skip: MODULE === 'foretell-slim.wasm' && 'there are no networks' };
/** What is of the module alone. */
const OF_MODULE = { skip: ADDON && 'there is no module' };
/** A model that learns something: a network if there are such. */
const LEARNER = NETWORKS.skip ? 'HistoricAverage' : { model: 'NLinear', max_steps: 3 };
const LEARNS = NETWORKS.skip ? 'HistoricAverage' : 'NLinear';

const refusal = async (work) => {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof ForetellError, `${error.stack}`);
    assert.ok(error.code && error.message, error.message);
    return error;
  }
  throw new Error('nothing was refused');
};

test('an array and a horizon give a forecast with intervals', async () => {
  const { mean, lower, upper, quantiles, model, score, weights, times } = await forecast(values(40), { h: 4, season: 4, levels: [80, 95] });
  assert.equal(model, 'Auto');
  assert.deepEqual(times, [41, 42, 43, 44]);
  assert.equal(mean.length, 4);
  values(44).slice(40).forEach((expected, step) => {
    assert.ok(Math.abs(mean[step] - expected) < 4, `${mean}`);
    assert.ok(lower[95][step] <= lower[80][step] && upper[80][step] <= upper[95][step]);
  });
  assert.ok(quantiles[0.1].every((value, step) => value === lower[80][step]));
  assert.match(score.sentence, /MASE/);
  assert.ok(Object.keys(weights).length > 0);
});

test('typed arrays, gaps and nothing at all', async () => {
  const typed = await forecast(Float64Array.from(values(40)), { h: 2 });
  const plain = await forecast(values(40), { h: 2 });
  assert.deepEqual(typed.mean, plain.mean);
  const gaps = values(40);
  [gaps[5], gaps[6], gaps[7]] = [null, undefined, NaN];
  const { told } = await forecast(gaps, { h: 2 });
  assert.ok(told.some((text) => text.includes('3 values were missing')), `${told}`);
  assert.equal((await refusal(() => forecast([], { h: 2 }))).code.length > 0, true);
});

test('rows, columns, and times of each kind come back as they came', async () => {
  const rows = panel(2, 40);
  const columns = Object.fromEntries(['unique_id', 'ds', 'y'].map((name) => [name, rows.map((row) => row[name])]));
  const options = { h: 4, season: 4, levels: [80] };
  const [byRows, byColumns] = [await forecast(rows, options), await forecast(columns, options)];
  assert.deepEqual(byRows.series, byColumns.series);
  assert.deepEqual(byRows.series.map(({ id }) => id), ['a', 'b']);
  assert.equal(byRows.times[0], '2024-02-10');
  const dates = await forecast(panel(2, 40, (day) => new Date(Date.UTC(2024, 0, 1 + day))), options);
  assert.deepEqual(dates.times[0], new Date(Date.UTC(2024, 1, 10)));
  const milliseconds = await forecast(panel(2, 40, (day) => Date.UTC(2024, 0, 1 + day)), options);
  assert.equal(milliseconds.times[0], Date.UTC(2024, 1, 10));
  const hours = await forecast(panel(1, 60, (hour) => new Date(Date.UTC(2024, 0, 1, hour))), { h: 2 });
  assert.deepEqual(hours.times, [new Date(Date.UTC(2024, 0, 3, 12)), new Date(Date.UTC(2024, 0, 3, 13))]);
  const steps = await forecast(panel(2, 40, (step) => step), options);
  assert.equal(steps.times[0], 40);
  for (const other of [dates, milliseconds, steps]) assert.deepEqual(other.series[1].mean, byRows.series[1].mean);
  assert.equal(byRows.table.rows()[0].ds, '2024-02-10');
});

const hour = 3600e3;

test("times of Temporal's come back as they came", async () => {
  const options = { h: 2, models: ['SeasonalNaive'] };
  const [first, day] = [Date.UTC(2024, 2, 30), 24 * hour];
  const iso = (moment) => new Date(moment).toISOString().slice(0, 19);
  // Hours of Berlin around the night in which its clock goes ahead, and days.
  const offset = (moment) => (moment < Date.UTC(2024, 2, 31, 1) ? 1 : 2);
  const inBerlin = (moment) => `${iso(moment + offset(moment) * hour)}+0${offset(moment)}:00[Europe/Berlin]`;
  for (const [name, step, text, next] of [
    ['PlainDate', day, (moment) => iso(moment).slice(0, 10), ['2024-05-09', '2024-05-10']],
    ['PlainDate', day, (moment) => `${iso(moment).slice(0, 10)}[u-ca=gregory]`, ['2024-05-09', '2024-05-10']],
    ['PlainDateTime', hour, iso, ['2024-03-31T16:00:00', '2024-03-31T17:00:00']],
    ['Instant', hour, (moment) => `${iso(moment)}Z`, ['2024-03-31T16:00:00Z', '2024-03-31T17:00:00Z']],
    ['Instant', day, (moment) => `${iso(moment)}Z`, ['2024-05-09T00:00:00Z', '2024-05-10T00:00:00Z']],
    ['ZonedDateTime', day, (moment) => `${iso(moment)}+0${offset(moment)}:00[Europe/Berlin]`, ['2024-05-09T00:00:00[Europe/Berlin]', '2024-05-10T00:00:00[Europe/Berlin]']],
    ['ZonedDateTime', hour, inBerlin, ['2024-03-31T16:00:00Z[Europe/Berlin]', '2024-03-31T17:00:00Z[Europe/Berlin]']],
  ]) {
    const Class = temporal(name);
    const data = panel(1, 40, (row) => new Class(text(first + row * step), first + row * step));
    const { times, table } = await forecast(data, options);
    assert.ok(times.every((time) => time instanceof Class), name);
    assert.deepEqual(times.map(String), next);
    assert.deepEqual(table.rows().map(({ ds }) => String(ds)), next);
    // Under a name that is found by what the column holds.
    const renamed = data.map(({ unique_id: shop, ds: when, y: kilos }) => ({ shop, when, kilos }));
    assert.deepEqual((await forecast(renamed, options)).times.map(String), next);
  }
  const [Day, Moment] = [temporal('PlainDate'), temporal('Instant')];
  const data = panel(1, 40, (row) => new Day(iso(first + row * day).slice(0, 10)));
  const future = [0, 1].map((step) => ({ unique_id: 'a', ds: new Day(`2024-05-${String(9 + step).padStart(2, '0')}`), price: step }));
  const known = await forecast(data.map((row, place) => ({ ...row, price: place % 2 })), { ...options, future });
  assert.deepEqual(known.times.map(String), ['2024-05-09', '2024-05-10']);
  data[7].ds = new Moment('2024-04-06T00:00:00Z', 0);
  const mixed = await refusal(() => forecast(data, options));
  assert.equal(mixed.message, 'data, row 7, column ds is 2024-04-06T00:00:00Z, beside times of Temporal.PlainDate; give times of one class and zone');
});

test('columns that are known ahead reach the models', async () => {
  const price = (row) => (row % 3 === 0 ? 2 : 1);
  const data = panel(1, 60).map((row, place) => ({ ...row, y: row.y + 30 * price(place), price: price(place) }));
  const future = [0, 1, 2].map((step) => ({ unique_id: 'a', ds: `2024-03-0${step + 1}`, price: price(60 + step) }));
  const { mean } = await forecast(data, { h: 3, future, levels: [80] });
  assert.equal(mean.length, 3);
  const { message } = await refusal(() => forecast(data, { h: 5, future }));
  assert.match(message, /2024-03-04/);
});

test('models are trained, saved, loaded and freed', async () => {
  const data = panel(2, 40);
  const steps = [];
  const model = await Model.fit(data, {
    models: ['SeasonalNaive', LEARNER], h: 4, inputSize: 8, season: 4, onProgress: (step) => void steps.push(step),
  });
  assert.deepEqual(model.columns, ['SeasonalNaive', LEARNS]);
  assert.equal(steps.filter(({ model: name }) => name === 'NLinear').length, NETWORKS.skip ? 0 : 3);
  assert.ok(steps.every(({ trainLoss }) => trainLoss === null || trainLoss >= 0));
  const before = await model.predict(data);
  const loaded = await Model.load(await model.save());
  const after = await loaded.predict(data);
  assert.deepEqual(after.table.columns, before.table.columns);
  assert.deepEqual(Array.from(before.table.series('SeasonalNaive')[0].mean), values(40).slice(36));
  await model.free();
  assert.equal((await refusal(() => model.predict(data))).code, 'no_model');
  await model.free();
  await loaded.free();
});

test('progress may end a training, and a signal too', NETWORKS, async () => {
  const data = values(60);
  const options = { models: [{ model: 'NLinear', max_steps: 50 }], h: 2 };
  let heard = 0;
  const model = await Model.fit(data, { ...options, onProgress: () => (heard += 1) < 5 });
  assert.equal(heard, 5);
  assert.equal(model.interrupted, true);
  const controller = new AbortController();
  const work = Model.fit(data, { ...options, signal: controller.signal, onProgress: () => controller.abort(new Error('enough')) });
  await assert.rejects(work, /enough/);
  await assert.rejects(forecast(data, { h: 2, signal: AbortSignal.abort(new Error('before')) }), /before/);
  await assert.rejects(Model.fit(data, { ...options, onProgress: () => { throw new TypeError('mine'); } }), /mine/);
});

test('a call from within the progress is done after the work', NETWORKS, async () => {
  let inner = null;
  const model = await Model.fit(values(60), {
    models: [{ model: 'NLinear', max_steps: 2 }], h: 2, onProgress: () => { inner ??= about().catch((error) => error); },
  });
  assert.equal(model.interrupted, false);
  // By the time that the call begins, after a turn of the queue, the work is done.
  assert.ok((await inner).version);
});

test('windows are scored, anomalies marked, forecasts taken apart', async () => {
  const training = { models: ['SeasonalNaive', 'Naive'], h: 4, season: 4 };
  const { scores, table } = await crossValidate(values(40), { ...training, nWindows: 2, metrics: ['mae', 'mase'] });
  assert.equal(scores.mae.SeasonalNaive, 4);
  assert.equal(table.length, 8);
  assert.deepEqual([...new Set(table.columns.cutoff)], [32, 36]);
  const odd = values(40);
  odd[37] = 500;
  const marked = await anomalies(odd, { models: ['SeasonalNaive'], h: 4, season: 4, nWindows: 4 });
  const marks = marked.table.columns['SeasonalNaive-anomaly'];
  assert.deepEqual(marked.table.columns.ds.filter((_, row) => marks[row] === 1), [38]);
  const model = await Model.fit(values(60), { models: ['FLAIR'], h: 4 });
  const { table: parts } = await model.decompose(values(60));
  assert.ok(parts.models[0].components.length > 0);
  assert.equal((await evaluate([1, 2, null], { mine: [2, 4, 5] })).mae.mine, 1.5);
});

test('the promised class', NETWORKS, async () => {
  const options = { models: [{ model: 'NLinear', max_steps: 2 }], h: 4, inputSize: 8, numThreads: 4, simdEnabled: true, memoryPool: true };
  const forecaster = await new NeuralForecaster(options).fit(values(40));
  assert.equal(forecaster.threads, ADDON ? Math.min(4, availableParallelism()) : 1);
  const { series } = await forecaster.predict(values(40));
  const plain = await new NeuralForecaster({ ...options, simdEnabled: false, lowMemory: true }).fit(values(40));
  const [scalar] = (await plain.predict(values(40))).series;
  series[0].mean.forEach((value, step) => assert.ok(Math.abs(value - scalar.mean[step]) < 1e-5 * Math.abs(value)));
  const again = await new NeuralForecaster(options).load(await forecaster.save());
  assert.deepEqual((await again.predict(values(40))).series, series);
  for (const [wrong, setting] of [
    [{ backend: 'cuda' }, 'backend'], [{ numThreads: 0 }, 'numThreads'], [{ simdEnabled: 'yes' }, 'simdEnabled'], [{ models: [] }, 'models'],
  ]) {
    const error = await refusal(() => new NeuralForecaster({ ...options, ...wrong }));
    assert.equal(error.setting, setting);
  }
  assert.match((await refusal(() => new NeuralForecaster({ ...options, backend: 'cuda' }))).message, /CUDA.*CPU alone; set backend: 'cpu'/);
  assert.equal((await refusal(() => new NeuralForecaster(options).predict([1, 2]))).code, 'not_fitted');
});

test('trainings have a precision', NETWORKS, async () => {
  const fit = (precision) => Model.fit(values(40), { models: [{ model: 'MLP', max_steps: 3 }], h: 4, inputSize: 8, precision });
  const mean = async (precision) => (await (await fit(precision)).predict(values(40))).series[0].mean;
  assert.deepEqual(await mean('f32'), await mean(undefined));
  if (ADDON) assert.notDeepEqual(await mean('bf16'), await mean('f32'));
  else assert.equal((await refusal(() => fit('bf16'))).code, 'without_amp');
  assert.match((await refusal(() => fit('f8'))).message, /f8.*f32.*bf16.*f16/);
});

test('errors have codes, settings and advice', async () => {
  const gap = panel(1, 20);
  gap.splice(10, 2);
  const error = await refusal(() => forecast(gap, { h: 2 }));
  assert.deepEqual([error.code, error.setting, error.series], ['gap', 'reading.fill', 'a']);
  assert.match(error.advice, /reading\.fill/);
  // The advice helps.
  assert.equal((await forecast(gap, { h: 2, reading: { fill: 'interpolate' } })).mean.length, 2);
  for (const [work, setting] of [
    [() => forecast(values(9)), 'h'],
    [() => forecast(values(40), { horizon: 3 }), 'horizon'],
    [() => forecast([1, 'two', 3], { h: 1 }), 'data'],
    [() => forecast([1, Infinity, 3], { h: 1 }), 'data'],
    [() => forecast(undefined, { h: 1 }), 'data'],
    [() => forecast([{ ds: new Date(NaN), y: 1 }], { h: 1 }), 'data'],
    [() => forecast({ ds: 5, y: [1] }, { h: 1 }), 'data'],
    [() => forecast(values(40), { h: 2, budget: 'soon' }), 'budget'],
    [() => Model.fit(values(40), { models: [], h: 2 }), 'models'],
    [() => Model.fit(values(40), { models: [{ model: LEARNS, max_step: 1 }], h: 2 }), 'max_step'],
    [() => Model.load('text'), 'bytes'],
  ]) {
    const found = await refusal(work);
    assert.equal(found.setting, setting, `${found.message}`);
  }
  assert.match((await refusal(() => Model.fit(values(40), { models: ['AutoETSS'], h: 2 }))).message, /AutoETS/);
});

test('init takes bytes, a module, and nothing; nonsense is refused', OF_MODULE, async () => {
  const bytes = readFileSync(join(PACKAGE, 'src', MODULE));
  await init(bytes);
  await init(await WebAssembly.compile(bytes));
  await assert.rejects(init(new Uint8Array([1, 2, 3])), WebAssembly.CompileError);
  assert.equal((await refusal(() => init(5))).setting, 'init');
  await init();
  assert.match((await about()).version, /^\d/);
});

test('a network that is trained is no model of the small module, which says where it is', { skip: !NETWORKS.skip && 'there are networks' }, async () => {
  const { models } = await about();
  assert.ok(['AutoETS', 'AutoARIMA', 'FLAIR', 'Foretell0', 'Auto'].every((name) => models.includes(name)) && !models.includes('NHITS'), `${models}`);
  for (const name of ['NHITS', 'nhits']) {
    const error = await refusal(() => Model.fit(values(40), { models: [name], h: 2 }));
    assert.equal(error.code, 'without_feature');
    assert.equal(error.message, 'NHITS is a network that is trained, and foretell/slim has none; import it from foretell, or choose another model');
  }
});

test('a file stands where rows do', async () => {
  const text = `month,shop,sales,visits\n${panel(2, 24, (row) => `${2022 + Math.floor(row / 12)}-${String(1 + (row % 12)).padStart(2, '0')}-01`)
    .map(({ unique_id: id, ds, y }, row) => `${ds},${id},${y},${row % 5}\n`).join('')}`;
  const file = { name: 'sales.csv', bytes: new TextEncoder().encode(text) };
  const seen = await look(file);
  assert.deepEqual([seen.idCol, seen.timeCol, seen.targetCol, seen.freq, seen.series, seen.rows], ['shop', 'month', 'sales', 'MS', 2, 48]);
  assert.deepEqual(seen.unread, ['visits']);
  assert.equal(seen.table.length, 48);
  const { series, report } = await forecast(file, { h: 2, levels: [80], report: true });
  assert.deepEqual(series.map(({ id, times }) => [id, times[0]]), [['a', '2024-01-01'], ['b', '2024-01-01']]);
  assert.match(new TextDecoder().decode(report), /Forecasts of sales/);
  const blob = await forecast(new Blob([text]), { h: 2, levels: [80] });
  assert.deepEqual(blob.mean, series[0].mean);
  assert.equal(blob.report, undefined);
  const unclear = await refusal(() => look({ ...file, bytes: new TextEncoder().encode(text.replace('sales', 'kg')) }));
  assert.deepEqual([unclear.code, unclear.columns], ['unclear_column', ['kg', 'visits']]);
  assert.equal((await refusal(() => look({ name: 'a.csv', bytes: 'text' }))).setting, 'data');
  assert.equal((await refusal(() => look([1, 2, 3], { h: 2 }))).setting, 'h');
});

test('the module has vectors, and imports the two functions of its border alone', OF_MODULE, async () => {
  const module = await WebAssembly.compile(readFileSync(join(PACKAGE, 'src', MODULE)));
  const imports = WebAssembly.Module.imports(module).map(({ module: from, name }) => `${from}.${name}`);
  // Readers of archives declare what generators of code would fill in, and never call it.
  assert.deepEqual(imports.filter((name) => !name.startsWith('__wbindgen')).sort(), ['foretell.heard', 'foretell.now']);
  assert.equal((await about()).level, 'simd128');
});

test('the module as text is the same engine', NETWORKS, async () => {
  const inline = await load('inline.js');
  assert.equal((await inline.forecast(values(40), { h: 2, models: ['Naive'] })).mean.length, 2);
});

test('no file on the path of browsers imports Node', () => {
  const files = readdirSync(join(PACKAGE, 'src')).filter((name) => name.endsWith('.js') && !name.includes('node'));
  assert.ok(files.length > 8);
  for (const name of files) {
    assert.ok(!/(from|import\()\s*'node:/.test(readFileSync(join(PACKAGE, 'src', name), 'utf8')), name);
  }
});

test('a thousand damaged archives and requests are errors, and the engine goes on', async () => {
  const model = await Model.fit(values(30), { models: ['SeasonalNaive', LEARNER], h: 2 });
  const archive = await model.save();
  const draw = draws(7);
  let refused = 0;
  for (let round = 0; round < 700; round += 1) {
    let damaged = archive.slice();
    if (round % 3 === 0) damaged = damaged.slice(0, draw(archive.length));
    else for (let flips = 0; flips <= draw(4); flips += 1) damaged[draw(archive.length)] ^= 1 << draw(8);
    try {
      await (await Model.load(damaged)).free();
    } catch (error) {
      assert.ok(error instanceof ForetellError && error.code !== 'failure', `${round}: ${error.stack}`);
      refused += 1;
    }
  }
  const odd = [NaN, null, -1, 0, 1e300, 'x', {}, [], true, 1.5];
  for (let round = 0; round < 300; round += 1) {
    const options = { h: 2, models: ['Naive'], levels: [80] };
    options[['h', 'models', 'levels', 'season', 'budget', 'metric', 'quantiles', 'ensemble'][draw(8)]] = odd[draw(odd.length)];
    const data = values(12);
    if (round % 4 === 0) data[draw(12)] = odd[draw(odd.length)];
    try {
      await forecast(data, options);
    } catch (error) {
      assert.ok(error instanceof ForetellError && error.code !== 'failure', `${round}: ${error.stack}`);
      refused += 1;
    }
  }
  assert.ok(refused > 500, `${refused}`);
  assert.equal((await model.predict(values(30))).series.length, 1);
  assert.equal((await about()).kept >= 1, true);
});
