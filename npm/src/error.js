/** An error of the engine or of a request; `docs/errors.md` lists the codes. */
export class ForetellError extends Error {
  constructor({ message, code, setting, advice, row, column, series, file, columns }) {
    super(message);
    this.name = 'ForetellError';
    Object.assign(this, { code, setting, advice, row, column, series, file, columns });
  }
}

/** The error of a request whose option `setting` is not what it should be. */
export function refuse(setting, message, code = 'request') {
  const semicolon = message.indexOf('; ');
  const advice = semicolon < 0 ? null : message.slice(semicolon + 2);
  return new ForetellError({ message, code, setting, advice });
}
