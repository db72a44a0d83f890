// Who answers the page: the server that it came from. `npm/page/engine.js` is another engine with the same functions.
//
// What is asked is { table, fields }: a table { name, type, body } and the fields beside it. An error has the words of the engine, and
// what else it says of it: `code`, `setting`, `columns`.
const engine = {
  privacy: 'It goes to this server and no further.',
  token: '',

  /** The models that are served. */
  async models() {
    return (await this.ask('v1/models')).models;
  },
  look(asked) {
    return this.ask('v1/look', asked);
  },
  forecast(asked) {
    return this.ask('v1/forecast', asked);
  },
  /** Forecasts of the last rows, beside them. */
  compare(asked) {
    return this.ask('v1/cross-validate', asked);
  },

  async ask(path, { table, fields = {} } = {}) {
    const headers = { accept: 'application/json' };
    if (this.token) headers.authorization = `Bearer ${this.token}`;
    if (table) headers['content-type'] = table.type;
    const query = table ? `?${new URLSearchParams(fields)}` : '';
    const response = await fetch(path + query, { method: table ? 'POST' : 'GET', headers, body: table?.body });
    const text = await response.text();
    const answer = text ? JSON.parse(text) : {};
    if (!response.ok) throw Object.assign(new Error(answer.detail ?? response.statusText), answer);
    return answer;
  },
};
