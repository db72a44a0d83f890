// Who answers the page: the engine in a worker of the page itself, so that no row leaves it. It has the functions of the server's
// `engine.js`, with the same answers.

/** A part of this page that is a text in it; nothing where it is a file beside the page. */
const partWithin = (id) => document.getElementById(id)?.textContent;

/** What starts the worker, and what the engine in it is started with. */
async function partsOfEngine() {
  const [worker, module] = ['worker-text', 'module-text'].map(partWithin);
  if (!worker) return { worker: 'worker.js', module: new URL('foretell.wasm', document.baseURI).href };
  const packed = Uint8Array.from(atob(module), (letter) => letter.charCodeAt(0));
  const unpacked = new Response(packed).body.pipeThrough(new DecompressionStream('gzip'));
  const address = URL.createObjectURL(new Blob([worker], { type: 'text/javascript' }));
  return { worker: address, module: new Uint8Array(await new Response(unpacked).arrayBuffer()) };
}

/** The engine, once it is started. */
async function startEngine() {
  const parts = await partsOfEngine();
  const open = (hear, fail) => {
    const worker = new Worker(parts.worker);
    worker.onmessage = ({ data }) => hear(data);
    worker.onerror = ({ message }) => fail(new Error(`the worker failed: ${message ?? 'it could not be started'}; load the page again`));
    return { post: (message) => worker.postMessage(message), end: () => worker.terminate() };
  };
  return new EngineWorker(open, parts.module).start();
}

/** A number of single precision with the digits that it has: 0.1 in place of 0.10000000149. */
function withOwnDigits(value) {
  if (Math.fround(value) !== value) return value;
  for (let digits = 6; digits < 9; digits += 1) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
}

/** The columns of a table as the server has them in JSON, where what is not known is null. */
function columnsAsJson({ names, columns }) {
  const cell = (value) => (typeof value !== 'number' ? value : Number.isNaN(value) ? null : withOwnDigits(value));
  return Object.fromEntries(names.map((name) => [name, Array.from(columns[name], cell)]));
}

const engine = {
  privacy: 'It stays on this machine: the page forecasts by itself.',
  started: null,

  /** No model is served: starting the engine is what can go wrong. */
  async models() {
    this.started ??= startEngine();
    await this.started;
    return [];
  },

  async look({ table, fields }) {
    const { table: rows, idCol, timeCol, targetCol, ...understood } = await this.ask('look', table, this.readingOf(fields));
    return { understood: { ...understood, id_col: idCol, time_col: timeCol, target_col: targetCol }, columns: columnsAsJson(rows) };
  },

  async forecast({ table, fields }) {
    const { h, level, budget } = fields;
    const asked = { ...this.readingOf(fields), h: Number(h), levels: level ? [Number(level)] : undefined, budget, report: true };
    const { table: rows, board, leaderboard, told, report } = await this.ask('forecast', table, asked);
    const forecasts = rows.models.map(({ mean, intervals }) => ({
      point: mean,
      // The widest first.
      intervals: intervals.map(({ level, lower, upper }) => ({ level, low: lower, high: upper })).reverse(),
    }));
    const leaders = leaderboard.map(({ scaledCrps, ...row }) => ({ ...row, scaled_crps: scaledCrps }));
    return { columns: columnsAsJson(rows), forecasts, warnings: told, board: { ...board, rows: leaders }, report };
  },

  readingOf: ({ reading }) => (reading ? { reading: JSON.parse(reading) } : {}),

  async ask(work, { name, body }, options) {
    const bytes = await new Blob([body]).arrayBuffer();
    return (await this.started).ask(work, [{ name, bytes }, options]);
  },
};
