// Puts the page together that forecasts by itself: `node build.mjs PACKAGE FRAME OUT`, of the package, the folder of the server's page and
// the folder that is made. In it `index.html`, `worker.js` and `foretell.wasm` are for any server of files; `foretell.html` is all of
// them in one file, which opens from a disk as well.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const [, , pack, frame, out] = process.argv;
const here = dirname(fileURLToPath(import.meta.url));
const text = (...path) => readFileSync(join(...path), 'utf8').trimEnd();

/**
 * A module of the package, and those that it imports, as one script: a page from a disk may load no module.
 * Each is a function's body, whose result are its exports; the forms that imports and exports may have are those of the package.
 */
function bundled(name, done) {
  if (done.has(name)) return '';
  done.add(name);
  const before = [];
  const exported = [];
  const body = text(pack, 'src', name)
    .replaceAll(/^import (\{[^}]*\}|\* as \w+) from '\.\/([^']+)';$/gm, (_, names, from) => {
      before.push(bundled(from, done));
      return `const ${names.replace('* as ', '')} = modules['${from}'];`;
    })
    .replaceAll(/^export (?:\{([^}]*)\};$|((?:async )?function|class|const) (\w+))/gm, (_, names, kind, name) => {
      exported.push(names ?? name);
      return kind ? `${kind} ${name}` : '';
    });
  assert.ok(!/^(import|export)\b/m.test(body), `${name} imports or exports in a form that the page's script does not know`);
  return `${before.join('')}modules['${name}'] = (() => {\n${body}\nreturn { ${exported.join(', ')} };\n})();\n`;
}

const inWorker = new Set();
const worker = `"use strict";
const modules = {};
${['thread-core.js', 'api.js'].map((name) => bundled(name, inWorker)).join('')}
modules['thread-core.js'].serve(modules['api.js'], (hear) => self.addEventListener('message', ({ data }) => hear(data)), (message) => self.postMessage(message));
`;
const engine = `const modules = {};
${bundled('worker-core.js', new Set())}
const { EngineWorker } = modules['worker-core.js'];
${text(here, 'engine.js')}`;

/** What the page may load: nothing that is not in it or beside it. */
const policy = (connect) => `<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; connect-src ${connect}; img-src data:; base-uri 'none'; form-action 'none'">`;

/** The page, with these parts within. */
function page(connect, within) {
  const placed = text(frame, 'page.html').replaceAll(/\{\{([\w.]+)\}\}/g, (_, name) => (name === 'engine.js' ? engine : text(frame, name)));
  const inside = Object.entries(within).map(([id, content]) => `<script type="text/plain" id="${id}">${content}</script>\n`);
  return placed
    .replace('<meta charset="utf-8">', (charset) => `${charset}\n${policy(connect)}`)
    .replace('<script>', (script) => `${inside.join('')}${script}`);
}

mkdirSync(out, { recursive: true });
const module = join(pack, 'src/foretell.wasm');
assert.ok(existsSync(module), `${module} is not there`);
writeFileSync(join(out, 'index.html'), page("'self'", {}));
writeFileSync(join(out, 'worker.js'), worker);
copyFileSync(module, join(out, 'foretell.wasm'));
const whole = page("'none'", { 'worker-text': worker, 'module-text': gzipSync(readFileSync(module), { level: 9 }).toString('base64') });
writeFileSync(join(out, 'foretell.html'), whole);
console.log(`the page is ${join(out, 'index.html')}, and in one file of ${(whole.length / 1e6).toFixed(1)} MB ${join(out, 'foretell.html')}`);
