// Has Vite, webpack, esbuild and Next each bundle a page that forecasts, and opens what they write in headless Chromium. Those that are not
// installed are left out with a message: `npm install vite webpack webpack-cli esbuild next react react-dom` in a folder FORETELL_BUNDLERS
// has them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { CHROMIUM, Page } from './chromium.js';
import { PACKAGE, serveFiles } from './support.js';

const folder = resolve(process.env.FORETELL_BUNDLERS ?? join(import.meta.dirname, '..'));
const tools = join(folder, 'node_modules');

const run = (program, arguments_, cwd) => {
  const { status, stdout, stderr } = spawnSync(program, arguments_, { cwd, encoding: 'utf8', env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' } });
  assert.equal(status, 0, `${program} ${arguments_.join(' ')}: ${stdout}${stderr}`);
};
const runScript = (script, arguments_, cwd) => run(process.execPath, [join(tools, script), ...arguments_], cwd);

/** A script whose page has a function that forecasts. */
const script = (entry) => `import { forecast } from '${entry}';
globalThis.forecasts = (values) => forecast(values, { h: 2, models: ['Naive'] });\n`;
const html = (type, source) => `<!doctype html><script type="${type}" src="${source}"></script>`;

/** How each bundles a page in a folder into `out` below it: what it finds there, and the command. */
const BUNDLERS = {
  vite: (home) => {
    writeFileSync(join(home, 'page.js'), script('foretell'));
    writeFileSync(join(home, 'index.html'), html('module', '/page.js'));
    runScript('vite/bin/vite.js', ['build', '--outDir', 'out', '--logLevel', 'error'], home);
  },
  webpack: (home) => {
    writeFileSync(join(home, 'page.js'), script('foretell'));
    writeFileSync(join(home, 'webpack.config.cjs'), `module.exports = { mode: 'production', entry: './page.js', target: 'web',
  output: { path: __dirname + '/out', publicPath: '' } };`);
    runScript('webpack/bin/webpack.js', ['--config', 'webpack.config.cjs'], home);
    writeFileSync(join(home, 'out/index.html'), html('text/javascript', 'main.js'));
  },
  // It leaves files beside scripts alone: the module as text.
  esbuild: (home) => {
    writeFileSync(join(home, 'page.js'), script('foretell/inline'));
    run(join(tools, 'esbuild/bin/esbuild'), ['page.js', '--bundle', '--format=esm', '--platform=browser', '--outfile=out/page.js'], home);
    writeFileSync(join(home, 'out/index.html'), html('module', 'page.js'));
  },
  // A page that the server renders first, and that forecasts in the browser.
  next: (home) => {
    mkdirSync(join(home, 'app'));
    writeFileSync(join(home, 'next.config.mjs'), "export default { output: 'export' };");
    writeFileSync(join(home, 'app/layout.js'), 'export default function Layout({ children }) { return <html><body>{children}</body></html>; }');
    writeFileSync(join(home, 'app/page.js'), `'use client';
import { useEffect } from 'react';
import { forecast } from 'foretell';
export default function Page() {
  useEffect(() => { globalThis.forecasts = (values) => forecast(values, { h: 2, models: ['Naive'] }); }, []);
  return <p>a page</p>;
}`);
    runScript('next/dist/bin/next', ['build'], home);
  },
};

/** Opens a bundled page and has it forecast. */
async function forecasts(out) {
  const { server, address } = await serveFiles(out);
  const browser = await Page.open(address);
  try {
    await browser.until('Boolean(globalThis.forecasts)');
    const mean = await browser.value('globalThis.forecasts([1, 2, 3, 4, 5, 6, 7, 8]).then(({ mean }) => [...mean])');
    assert.deepEqual(mean, [8, 8]);
  } catch (error) {
    throw new Error(browser.messages.join('\n'), { cause: error });
  } finally {
    await browser.close();
    server.close();
  }
}

const scripts = (out) => readdirSync(out, { recursive: true }).filter((name) => name.endsWith('.js')).map((name) => readFileSync(join(out, name), 'utf8'));

let failed = false;
for (const [name, bundle] of Object.entries(BUNDLERS)) {
  if (!existsSync(join(tools, name))) {
    console.log(`${name}: left out, it is not installed in ${tools}`);
    continue;
  }
  // Below the folder of the tools, where they and what they need are found.
  const home = mkdtempSync(join(folder, `foretell-${name}-`));
  try {
    cpSync(PACKAGE, join(home, 'node_modules/foretell'), { recursive: true });
    writeFileSync(join(home, 'package.json'), '{ "type": "module", "private": true }');
    bundle(home);
    const out = join(home, 'out');
    assert.ok(!scripts(out).some((text) => text.includes('node:fs')), "the page has Node's part of the package");
    if (CHROMIUM) await forecasts(out);
    const { version } = JSON.parse(readFileSync(join(tools, name, 'package.json'), 'utf8'));
    console.log(`${name} ${version}: bundled${CHROMIUM ? ', and the page forecasts' : '; there is no Chromium to open it'}`);
  } catch (error) {
    failed = true;
    console.log(`${name}: ${error.stack}${error.cause ? `\n${error.cause.stack}` : ''}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
process.exit(failed ? 1 : 0);
