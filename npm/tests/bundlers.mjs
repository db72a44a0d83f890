// Has Vite, webpack and esbuild each bundle a page that forecasts, and runs what they write where it can be run: in Node. Those that are
// not installed are left out with a message: `npm install vite webpack webpack-cli esbuild` in npm/ has them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { PACKAGE } from './support.js';

const tools = resolve(process.env.FORETELL_BUNDLERS ?? join(import.meta.dirname, '..'), 'node_modules');
const page = (entry) => `import { forecast } from '${entry}';
globalThis.forecasts = (values) => forecast(values, { h: 2, models: ['Naive'] });\n`;
const run = (command, arguments_, cwd) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(tools, command), ...arguments_], { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
};

/** What each writes: the command, and where its script and the module are. */
const BUNDLERS = {
  vite: {
    entry: 'foretell',
    prepare: (home) => writeFileSync(join(home, 'index.html'), '<script type="module" src="/page.js"></script>'),
    build: (home) => run('vite/bin/vite.js', ['build', '--outDir', 'out', '--logLevel', 'error'], home),
    script: (home) => join(home, 'out/assets', readdirSync(join(home, 'out/assets')).find((name) => name.endsWith('.js'))),
    module: (home) => join(home, 'out/assets', readdirSync(join(home, 'out/assets')).find((name) => name.endsWith('.wasm'))),
  },
  webpack: {
    entry: 'foretell',
    prepare: (home) => writeFileSync(join(home, 'webpack.config.cjs'), `module.exports = { mode: 'production', entry: './page.js', target: 'web',
  output: { path: __dirname + '/out', publicPath: '' } };`),
    build: (home) => run('webpack/bin/webpack.js', ['--config', 'webpack.config.cjs'], home),
    script: (home) => join(home, 'out/main.js'),
    module: (home) => join(home, 'out', readdirSync(join(home, 'out')).find((name) => name.endsWith('.wasm'))),
  },
  // It leaves files beside scripts alone: the module as text.
  esbuild: {
    entry: 'foretell/inline',
    prepare: () => {},
    build: (home) => {
      const program = join(tools, 'esbuild/bin/esbuild');
      const { status, stderr } = spawnSync(program, ['page.js', '--bundle', '--format=esm', '--platform=browser', '--outfile=out/page.js'], { cwd: home, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    },
    script: (home) => join(home, 'out/page.js'),
    module: () => null,
  },
};

for (const [name, bundler] of Object.entries(BUNDLERS)) {
  if (!existsSync(join(tools, name))) {
    console.log(`${name}: left out, it is not installed in ${tools}`);
    continue;
  }
  const home = mkdtempSync(join(tmpdir(), `foretell-${name}-`));
  try {
    mkdirSync(join(home, 'node_modules'));
    symlinkSync(PACKAGE, join(home, 'node_modules/foretell'));
    writeFileSync(join(home, 'package.json'), '{ "type": "module", "private": true }');
    writeFileSync(join(home, 'page.js'), page(bundler.entry));
    bundler.prepare(home);
    bundler.build(home);
    const script = readFileSync(bundler.script(home), 'utf8');
    assert.ok(!script.includes('node:fs'), `${name} takes Node's part of the package`);
    const module = bundler.module(home);
    if (module) assert.deepEqual(readFileSync(module), readFileSync(join(PACKAGE, 'src/foretell.wasm')));
    // A page's fetch, where there is none: what it asks for is the module.
    const child = `
      globalThis.self = globalThis; globalThis.location = new URL('http://localhost/'); globalThis.document = { baseURI: 'http://localhost/', currentScript: null, getElementsByTagName: () => [] };
      const { readFileSync } = await import('node:fs');
      globalThis.fetch = async () => new Response(readFileSync(${JSON.stringify(module)}));
      await import(${JSON.stringify(pathToFileURL(bundler.script(home)).href)});
      const { mean } = await globalThis.forecasts([1, 2, 3, 4, 5, 6, 7, 8]);
      if (mean.length !== 2) throw new Error('no forecast');`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', child], { encoding: 'utf8' });
    assert.equal(status, 0, `${name}: ${stderr}`);
    console.log(`${name}: bundled, and forecasts`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
