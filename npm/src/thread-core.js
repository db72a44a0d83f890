// What runs in a worker: it answers the messages of worker-core.js.

import { refuse } from './error.js';
import { Table } from './tables.js';

/** An error as a plain object: structured clones lose what errors have of their own. */
const plainError = (error) => {
  const { name, message, code, setting, advice, row, column, series, file, columns } = error ?? {};
  return { name: name ?? 'Error', message: message ?? String(error), code, setting, advice, row, column, series, file, columns };
};

/** A result as structured clones carry it: tables say that they are tables. */
function plain(value) {
  if (value instanceof Table) return { isTable: true, names: value.names, columns: value.columns, models: value.models, freq: value.freq };
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

export function serve(api, listen, post) {
  const models = new Map();
  let next = 1;
  const keep = (model) => {
    const number = next++;
    models.set(number, model);
    const { h, freq, columns, reads, readsAhead, interrupted, told } = model;
    return { model: number, about: { h, freq, columns, reads, readsAhead, interrupted }, told };
  };
  const kept = (number) => {
    const model = models.get(number);
    if (!model) throw refuse('model', 'there is no such model: it was freed; fit or load it again', 'no_model');
    return model;
  };
  const works = {
    init: (source) => api.init(source),
    look: api.look,
    forecast: api.forecast,
    crossValidate: api.crossValidate,
    anomalies: api.anomalies,
    evaluate: api.evaluate,
    about: api.about,
    fit: async (...given) => keep(await api.Model.fit(...given)),
    load: async (...given) => keep(await api.Model.load(...given)),
    predict: (number, ...given) => kept(number).predict(...given),
    decompose: (number, ...given) => kept(number).decompose(...given),
    save: (number) => kept(number).save(),
    free: async (number) => {
      await models.get(number)?.free();
      models.delete(number);
    },
  };
  // One after the other: the engine does one work at a time.
  let before = Promise.resolve();
  listen(({ id, work, given, hears }) => {
    before = before.then(async () => {
      try {
        const options = given.at(-1);
        if (hears) options.onProgress = (step) => post({ id, step });
        post({ id, result: plain(await works[work](...given)) });
      } catch (error) {
        post({ id, error: plainError(error) });
      }
    });
  });
}
