// ETS and Prophet of 100 series beside the packages @bsull/augurs and @bsull/augurs-prophet-wasmstan, on one page of Chromium, in turns:
// `npm install @bsull/augurs @bsull/augurs-prophet-wasmstan` in a folder FOLDER, then `node npm/tests/beside_augurs.mjs FOLDER`.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Page } from './chromium.js';
import { PACKAGE, draws, serveFiles } from './support.js';

const folder = resolve(process.argv[2] ?? '.');
const [SERIES, MONTHS, H, TURNS] = [100, 120, 12, 5];

const next = draws(7);
const months = Array.from({ length: MONTHS }, (_, month) => Date.UTC(2014, month, 1));
const series = Array.from({ length: SERIES }, (_, place) =>
  months.map((_, month) => 100 + place + 0.3 * month + 10 * Math.sin((month * Math.PI) / 6) + next(1000) / 100),
);

const SHIMS = '/node_modules/@bytecodealliance/preview2-shim/lib/browser';
const names = ['cli', 'clocks', 'filesystem', 'io', 'random'].map((name) => [`@bytecodealliance/preview2-shim/${name}`, `${SHIMS}/${name}.js`]);
const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports: Object.fromEntries(names) })}</script><script type="module">
const series = ${JSON.stringify(series)}, months = ${JSON.stringify(months)};
const seconds = months.map((month) => month / 1000);
const ahead = Array.from({ length: ${H} }, (_, step) => Date.UTC(2024, step, 1) / 1000);
const { Model } = await import('/foretell/src/browser.js');
const ets = await import('/node_modules/@bsull/augurs/ets.js');
const prophet = await import('/node_modules/@bsull/augurs/prophet.js');
const { optimizer } = await import('/node_modules/@bsull/augurs-prophet-wasmstan/prophet-wasmstan.js');
await Promise.all([ets.default(), prophet.default()]);
const rows = series.flatMap((values, place) => values.map((y, month) => ({ unique_id: String(place).padStart(3, '0'), ds: new Date(months[month]).toISOString().slice(0, 10), y })));
const ours = (model) => async () => {
  const fitted = await Model.fit(rows, { models: [model], h: ${H} });
  const { series } = await fitted.predict(rows, { levels: [80] });
  return series.map(({ mean }) => mean[0]);
};
const ways = {
  'AutoETS, foretell': ours({ model: 'AutoETS', season_length: 1 }),
  'AutoETS, augurs': () => series.map((values) => {
    const model = new ets.AutoETS(1, 'ZZN');
    model.fit(values);
    return model.predict(${H}, 0.8).point[0];
  }),
  'Prophet, foretell': ours({ model: 'Prophet' }),
  'Prophet, augurs': () => series.map((values) => {
    const model = new prophet.Prophet({ optimizer, intervalWidth: 0.8 });
    model.fit({ ds: seconds, y: values });
    return model.predict({ ds: ahead }).yhat.point[0];
  }),
};
const found = Object.fromEntries(Object.keys(ways).map((name) => [name, { times: [] }]));
for (let turn = 0; turn < ${TURNS}; turn += 1) {
  for (const [name, way] of Object.entries(ways)) {
    const begun = performance.now();
    const first = await way();
    found[name].times.push(performance.now() - begun);
    found[name].mean = first.reduce((sum, value) => sum + value, 0) / first.length;
  }
}
globalThis.found = found;
</script>`;

const { server, address } = await serveFiles(folder, ({ url }, response) => {
  const type = url.endsWith('.wasm') ? 'application/wasm' : 'text/javascript';
  if (url === '/') response.setHeader('content-type', 'text/html').end(page);
  else if (url.startsWith('/foretell/')) response.setHeader('content-type', type).end(readFileSync(join(PACKAGE, url.slice('/foretell'.length))));
  else return false;
  return true;
});
const browser = await Page.open(address);
try {
  for (let waited = 0; !(await browser.value('Boolean(globalThis.found)')); waited += 1) {
    if (browser.messages.some((text) => text.includes('Error'))) throw new Error([...browser.messages, ...browser.asked].join('\n'));
    await new Promise((soon) => setTimeout(soon, 200));
  }
  for (const [name, { times, mean }] of Object.entries(await browser.value('globalThis.found'))) {
    const [least, middle] = [Math.min(...times), times.sort((a, b) => a - b)[Math.floor(times.length / 2)]];
    console.log(`${name.padEnd(18)} least ${least.toFixed(0).padStart(6)} ms, median ${middle.toFixed(0).padStart(6)} ms, mean of first steps ${mean.toFixed(3)}`);
  }
} finally {
  await browser.close();
  server.close();
}
