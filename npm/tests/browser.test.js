// The package in headless Chromium, on a page of a server that knows files alone.

import assert from 'node:assert/strict';
import test from 'node:test';

import { CHROMIUM, startChromium } from './chromium.js';
import { PACKAGE, load, serveFiles, values } from './support.js';

const PAGE = `<!doctype html><script type="module">
const told = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) });
try {
  const begun = performance.now();
  const { forecast, Model, about } = await import('/src/browser.js');
  const values = ${JSON.stringify(values(60))};
  const first = await forecast(values, { h: 4, models: ['SeasonalNaive'] });
  const started = performance.now() - begun;
  const { mean, upper } = await forecast(values, { h: 4, levels: [80] });
  const model = await Model.fit(values, { models: [{ model: 'NHITS', max_steps: 2 }], h: 4, inputSize: 12 });
  const network = (await model.predict(values)).series[0].mean;
  const { startWorker } = await import('/src/worker-browser.js');
  const engine = await startWorker();
  const away = await engine.forecast(values, { h: 4, levels: [80] });
  await engine.terminate();
  const { level } = await about();
  await told({ level, started, first: [...first.mean], mean: [...mean], upper: [...upper[80]], network: [...network], away: [...away.mean] });
} catch (error) {
  await told({ error: String(error?.stack ?? error) });
}
</script>`;

test('a page forecasts as Node does, also in a worker', { skip: !CHROMIUM && 'no Chromium is installed', timeout: 120000 }, async (t) => {
  let answer;
  const answered = new Promise((resolve) => { answer = resolve; });
  const { server, address } = await serveFiles(PACKAGE, async (request, response) => {
    if (request.method === 'POST') {
      let body = '';
      for await (const part of request) body += part;
      response.end();
      answer(JSON.parse(body));
    } else if (request.url === '/') response.setHeader('content-type', 'text/html').end(PAGE);
    else return false;
    return true;
  });
  const browser = startChromium([address]);
  try {
    const found = await answered;
    assert.equal(found.error, undefined);
    t.diagnostic(`import, compile and first forecast: ${found.started.toFixed(0)} ms`);
    const { forecast, Model } = await load('node.js');
    const here = await forecast(values(60), { h: 4, levels: [80] });
    assert.equal(found.level, 'simd128');
    assert.deepEqual(found.mean, [...here.mean]);
    assert.deepEqual(found.upper, [...here.upper[80]]);
    assert.deepEqual(found.away, found.mean);
    const model = await Model.fit(values(60), { models: [{ model: 'NHITS', max_steps: 2 }], h: 4, inputSize: 12 });
    assert.deepEqual(found.network, [...(await model.predict(values(60))).series[0].mean]);
  } finally {
    await browser.end();
    server.close();
  }
});
