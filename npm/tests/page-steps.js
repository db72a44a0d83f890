// What a forecaster does on the page who has a file and nothing else: the same steps whoever computes.
//
// FORETELL_PICTURES names a folder for pictures of it.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PICTURES = process.env.FORETELL_PICTURES;

/** Four years of months of two shops, under names of no tool. */
export function sales(header = 'month,shop,revenue') {
  const rows = ['North', 'South'].flatMap((shop, place) =>
    Array.from({ length: 48 }, (_, month) => {
      const date = new Date(Date.UTC(2021, month, 1)).toISOString().slice(0, 10);
      const season = 1 + 0.3 * Math.sin((Math.PI * month) / 6);
      return `${date},${shop},${Math.round((12000 + 150 * month) * season * (1 - 0.4 * place)) + ((month * 37) % 900)}${header.endsWith('cost') ? ',7' : ''}`;
    }),
  );
  return [header, ...rows, ''].join('\n');
}

/** How far what was there moved, while nothing was pressed, as browsers count it. */
const SHIFT = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0)))
    .observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(0), 200);
})`;

/** Controls that a screen reader has no name for. */
const NAMELESS = `[...document.querySelectorAll('button, input, select, textarea, a[href], svg, summary, [tabindex]')].filter((field) =>
  !field.closest('[hidden]') && !(field.textContent.trim() || field.getAttribute('aria-label') || field.getAttribute('aria-labelledby')
  || field.labels?.length)).map((field) => field.outerHTML.slice(0, 80))`;

/** The text of an element that is shown. */
export const text = (id) => `document.getElementById('${id}').innerText`;
const focused = 'document.activeElement.id';

/** Drops files on the page, forecasts, and looks at what is shown; `name` is that of its pictures, `file` writes a file to be dropped. */
export async function walk(t, page, { name: pictures, file }) {
  const keep = async (name, scheme) => {
    if (!PICTURES) return;
    mkdirSync(PICTURES, { recursive: true });
    writeFileSync(join(PICTURES, `${pictures}-${name}.png`), await page.picture(scheme));
  };
  await page.resize(1100);
  await page.until("document.getElementById('model')?.value === 'auto'");

  await t.test('it is understood at once', async () => {
    await page.drop(file('sales.csv', sales()));
    await page.until(`${text('summary')}.includes('series of')`);
    const summary = await page.value(text('summary'));
    assert.equal(summary, 'sales.csv: 2 series of 96 rows in all, a row per month, a season of 12 months; the last is Dec 2024.');
    const roles = await page.value("['time_col', 'target_col', 'id_col', 'h', 'level'].map((id) => document.getElementById(id).value)");
    assert.deepEqual(roles, ['month', 'revenue', 'shop', '12', '80']);
    assert.equal(await page.value("document.querySelectorAll('#first tr').length"), 7);
  });

  await t.test('keys alone reach the forecast', async () => {
    await page.value("document.getElementById('h').focus()");
    const order = [];
    while (order.at(-1) !== 'run' && order.length < 9) {
      await page.press('Tab', '\t');
      order.push(await page.value(focused));
    }
    assert.deepEqual(order, ['level', 'model', 'budget', 'run']);
    await page.press('Enter', '\r');
    await page.until(`${focused} === 'heading' || ${text('problem')}`);
    assert.equal(await page.value(text('problem')), '');
  });

  await t.test('the chart, the board and the numbers are there', async () => {
    const kinds = await page.value("['history', 'forecast', 'band'].map((kind) => document.querySelectorAll(`#chart .${kind}`).length > 0)");
    assert.deepEqual(kinds, [true, true, true]);
    const axes = await page.value("[...document.querySelectorAll('#chart text')].map((text) => text.textContent)");
    assert.ok(axes.includes('10,000') && axes.includes('2024') && axes.includes('80 % interval'), axes.join(' | '));
    assert.match(await page.value(text('sentence')), /^Expect errors of about/);
    const leaders = await page.value("[...document.querySelectorAll('#leaders td:first-child')].map((cell) => cell.textContent)");
    assert.ok(leaders[0] === 'Auto' && leaders.includes('SeasonalNaive'), leaders.join(' '));
    assert.equal(await page.value("document.querySelectorAll('#table tr').length"), 13);
    assert.equal(await page.value(text('series-label')), 'Series, one of 2');
    assert.deepEqual(await page.value(NAMELESS), []);
    assert.ok((await page.value(SHIFT)) < 0.1, 'what was there moves');
    await keep('light', 'light');
    await keep('dark', 'dark');
  });

  await t.test('another series and the files are a key away', async () => {
    await page.value("document.getElementById('series').value = 'South'; document.getElementById('series').dispatchEvent(new Event('change'))");
    assert.match(await page.value(text('caption')), /^South from Jan 2025 to Dec 2025, by Auto\. The band is to hold the truth in 80 % of cases\.$/);
    const csv = (await page.value('csvOf(state.answer.columns)')).split('\n');
    assert.equal(csv[0], 'shop,month,Auto,Auto-lo-80,Auto-hi-80');
    assert.equal(csv.length, 1 + 24 + 1);
    const picture = await page.value("fileOf(document.querySelector('#chart svg'))");
    assert.ok(picture.startsWith('<svg') && picture.includes('.chart .band') && !picture.includes('NaN'), picture.slice(0, 300));
    const links = await page.value("['download', 'picture'].map((id) => document.getElementById(id).href.slice(0, 5))");
    assert.deepEqual(links, ['blob:', 'blob:']);
  });

  await t.test('a narrow screen needs no scrolling to the side', async () => {
    await page.resize(320);
    await page.until("document.querySelector('#chart svg').getAttribute('width') < 320");
    assert.equal(await page.value('document.documentElement.scrollWidth'), 320);
    await keep('narrow', 'light');
  });

  await t.test('a doubt is a question, whose answer suffices', async () => {
    await page.drop(file('doubt.csv', sales('month,shop,revenue_a,cost')));
    await page.until(`${text('doubt')} !== ''`);
    assert.match(await page.value(text('doubt')), /^doubt\.csv: which column is to be forecast\? Numbers are in `revenue_a`, `cost`: name one by “Values”/);
    const offered = await page.value("[...document.getElementById('target_col').options].map((option) => option.text)");
    assert.deepEqual(offered, ['choose …', 'revenue_a', 'cost']);
    await page.value("document.getElementById('target_col').value = 'revenue_a'; document.getElementById('target_col').dispatchEvent(new Event('change'))");
    await page.until(`${text('summary')}.includes('2 series') && ${text('doubt')} === ''`);
    assert.equal(await page.value(text('notes')), 'Not read: cost.');
  });

  await t.test('what is no table is said in words', async () => {
    await page.drop(file('nothing.csv', 'nothing,of,use\n1,2,3\n'));
    await page.until(`${text('doubt')} !== ''`);
    await page.value("document.getElementById('run').click()");
    await page.until(`${text('problem')} !== ''`);
    assert.match(await page.value(text('problem')), /^nothing\.csv has no column/);
  });
}
