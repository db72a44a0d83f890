// The page in headless Chromium: that of `foretell serve`, and the same as files that need no server.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

import { CHROMIUM, Page } from './chromium.js';
import { sales, text, walk } from './page-steps.js';
import { load, serveFiles } from './support.js';
import { workbook } from './workbook.js';

const PROGRAM = process.env.FORETELL_PROGRAM ?? join(import.meta.dirname, '../../target/debug/foretell');
const PAGE = process.env.FORETELL_PAGE ?? join(import.meta.dirname, '../../target/page');
const NO_BROWSER = !CHROMIUM && 'no Chromium is installed';
const NO_PAGE = !existsSync(join(PAGE, 'index.html')) && `there is no ${PAGE}`;

/** Starts the server without a model, and gives its address. */
async function startServer() {
  const server = spawn(PROGRAM, ['serve', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const address = await new Promise((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
      const found = /http:\/\/[\d.]+:\d+/.exec(said);
      if (found) resolve(`${found[0]}/`);
    });
    server.once('exit', () => reject(new Error(`the server ended: ${said}`)));
  });
  return { server, address };
}

/** A folder for files that are dropped, and what writes them; it goes with the test. */
function filesOf(t) {
  const folder = mkdtempSync(join(tmpdir(), 'foretell-page-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return (name, content) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
}

/** Opens a page that is closed after the test. */
async function opened(t, address) {
  const page = await Page.open(address);
  t.after(() => page.close());
  return page;
}

test('a file that is dropped on the page of the server is understood and forecast', { skip: NO_BROWSER || (!existsSync(PROGRAM) && `there is no ${PROGRAM}`), timeout: 120000 }, async (t) => {
  const { server, address } = await startServer();
  t.after(() => server.kill());
  const page = await opened(t, address);
  await walk(t, page, { name: 'server', file: filesOf(t) });
  const foreign = page.asked.filter((url) => !url.startsWith(address) && !url.startsWith('data:'));
  assert.deepEqual(foreign, [], 'others are asked');
  // The browser itself tells of answers that refuse.
  assert.deepEqual(page.messages.filter((message) => !message.includes('422')), []);
});

/** Addresses that a page asks for which are no part of itself. */
const beyondItself = (asked) => asked.filter((url) => !/^(data|blob):/.test(url));

/** The forecast that the page shows is the module's: each cell, with the digits that it has in single precision. */
async function showsTheModules(page, name, bytes) {
  const { forecast } = await load('node.js');
  const { table } = await forecast({ name, bytes }, { h: 12, levels: [80] });
  const shown = await page.value('state.answer.columns');
  assert.deepEqual(Object.keys(shown), table.names);
  for (const column of table.names) {
    const cells = Array.from(table.columns[column]);
    assert.deepEqual(shown[column].map((cell) => (typeof cell === 'number' ? Math.fround(cell) : cell)), cells, column);
  }
}

test('the page as files forecasts by itself, and goes on where the network ends', { skip: NO_BROWSER || NO_PAGE, timeout: 120000 }, async (t) => {
  const { server, address } = await serveFiles(PAGE);
  const page = await opened(t, address);
  await page.until("document.getElementById('privacy')?.textContent.includes('stays on this machine')");
  await page.value('engine.started.then(() => true)');
  assert.deepEqual(beyondItself(page.asked).map((url) => url.replace(address, '')).sort(), ['', 'foretell.wasm', 'worker.js']);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  page.asked.length = 0;
  const file = filesOf(t);
  await walk(t, page, { name: 'files', file });

  await t.test('what is shown is what the module says', async () => {
    const bytes = Buffer.from(sales());
    await page.drop(file('again.csv', bytes));
    await page.until(`${text('summary')}.startsWith('again.csv: 2 series')`);
    await page.value("document.getElementById('run').click()");
    await page.until(`${text('status')}.startsWith('Done')`);
    await showsTheModules(page, 'again.csv', bytes);
    const report = await page.value('new TextDecoder().decode(state.answer.report)');
    assert.match(report, /^<!doctype html>[^]*Forecasts of revenue[^]*again\.csv/i);
    assert.equal(await page.value("document.getElementById('report').hidden"), false);
  });

  await t.test('a workbook is read as well', async () => {
    const rows = sales().trim().split('\n').map((line) => line.split(',').map((cell) => (/^\d+$/.test(cell) ? Number(cell) : cell)));
    await page.drop(file('book.xlsx', workbook(rows)));
    await page.until(`${text('summary')}.includes('book.xlsx: 2 series of 96 rows in all, a row per month')`);
  });

  assert.deepEqual(beyondItself(page.asked), [], 'something is asked');
  assert.deepEqual(page.messages, []);
});

test('the page as one file opens from a disk', { skip: NO_BROWSER || NO_PAGE, timeout: 120000 }, async (t) => {
  const page = await opened(t, pathToFileURL(join(PAGE, 'foretell.html')).href);
  await page.resize(1100);
  const bytes = Buffer.from(sales());
  // The page's script stands behind the module, which is most of the file.
  await page.until("document.readyState === 'complete' && typeof state === 'object'");
  await page.drop(filesOf(t)('sales.csv', bytes));
  await page.until(`${text('summary')}.includes('2 series of 96 rows in all, a row per month, a season of 12 months')`);
  await page.value("document.getElementById('run').click()");
  await page.until(`${text('status')}.startsWith('Done') || ${text('problem')}`);
  assert.equal(await page.value(text('problem')), '');
  await showsTheModules(page, 'sales.csv', bytes);
  assert.deepEqual(beyondItself(page.asked).filter((url) => !url.endsWith('/foretell.html')), [], 'something is asked');
  assert.deepEqual(page.messages, []);
});
