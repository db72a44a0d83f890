// What the tests share: the package under test, and series.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The package, put together by `cargo xtask wasm`. */
export const PACKAGE = process.env.FORETELL_PACKAGE ?? join(import.meta.dirname, '../../target/npm/foretell');

/** The entry under test: that of the whole module, `slim-node.js` or `native-node.js`; whether the addon stands behind it, else its module. */
export const ENTRY = process.env.FORETELL_ENTRY ?? 'node.js';
export const ADDON = ENTRY.startsWith('native');
export const MODULE = ENTRY.startsWith('slim') ? 'foretell-slim.wasm' : 'foretell.wasm';

export const load = (file) => import(pathToFileURL(join(PACKAGE, 'src', file)).href);

/** A trend and a season of four steps. */
export const values = (rows) => Array.from({ length: rows }, (_, row) => 100 + row + [5, -3, 8, 0.5][row % 4]);

/** Rows of series `a`, `b`, ... with times from 1 January 2024 on. */
export function panel(series, rows, time = (day) => new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10)) {
  const all = [];
  for (let place = 0; place < series; place += 1) {
    const id = String.fromCharCode(97 + place);
    values(rows).forEach((y, row) => all.push({ unique_id: id, ds: time(row), y: y * (1 + place) }));
  }
  return all;
}

/** A class like Temporal's of that name, which Node 20 lacks: of a text, and of the moment that it is where it is one. */
export const temporal = (name) =>
  class {
    constructor(text, moment) {
      this.text = text;
      this.epochMilliseconds = moment;
    }

    static from(text) {
      return new this(text);
    }

    toString() {
      return this.text;
    }

    get [Symbol.toStringTag]() {
      return `Temporal.${name}`;
    }
  };

/** A stream of numbers that is the same at every run. */
export function draws(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TYPES = { html: 'text/html', js: 'text/javascript', wasm: 'application/wasm' };

/** A server that knows the files of a folder alone: `{ server, address }`. `first` answers what it wants before. */
export async function serveFiles(folder, first = () => false) {
  const server = createServer(async (request, response) => {
    if (await first(request, response)) return;
    const { pathname } = new URL(request.url, 'http://localhost');
    const name = pathname === '/' ? 'index.html' : pathname;
    try {
      const content = readFileSync(join(folder, name));
      response.setHeader('content-type', TYPES[name.split('.').at(-1)] ?? 'text/plain').end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}
