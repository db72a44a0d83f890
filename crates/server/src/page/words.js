// Numbers, times and frequencies as people write them.

const numberFormat = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 });
const countFormat = new Intl.NumberFormat();

/** A cell of a table: numbers with thousands. */
const cellText = (value) => (typeof value === 'number' ? numberFormat.format(value) : value ?? '');

const counted = (count, noun) => `${countFormat.format(count)} ${noun}${count === 1 || noun === 'series' ? '' : 's'}`;

const STEPS = {
  s: 'second', min: 'minute', h: 'hour', D: 'day', B: 'business day', bh: 'business hour', W: 'week', MS: 'month', ME: 'month',
  QS: 'quarter', QE: 'quarter', YS: 'year', YE: 'year',
};

/** The count and the unit of a frequency such as `15min` or `W-SUN`. */
function stepOf(freq) {
  const [, count, letters] = /^(\d*)([A-Za-z]*)/.exec(freq);
  return { count: Number(count || 1), unit: STEPS[letters] ?? (letters ? freq : 'step') };
}

/** `a row per 15 minutes` */
function freqText(freq) {
  const { count, unit } = stepOf(freq);
  return `a row per ${count === 1 ? unit : counted(count, unit)}`;
}

/** `a season of 24 hours`, in which a row is a step. */
function seasonText(seasons, freq) {
  if (!(seasons[0] > 1)) return 'no season';
  const { count, unit } = stepOf(freq);
  const all = seasons.join(' and ');
  return `${seasons.length > 1 ? 'seasons' : 'a season'} of ${all} ${count === 1 ? `${unit}s` : 'rows'}`;
}

/** The moment of a time on its own clock; nothing for numbers of steps. */
function momentOf(time) {
  if (typeof time !== 'string') return null;
  const moment = new Date(`${time.slice(0, 10)}T${time.slice(11, 19) || '00:00:00'}Z`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

const UNITS = ['hour', 'day', 'month', 'year'];
const FORMATS = {
  hour: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'short', year: 'numeric' },
  year: { year: 'numeric' },
};
const timeFormats = Object.fromEntries(UNITS.map((unit) => [unit, new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', ...FORMATS[unit] })]));

/** The finest unit that times of a frequency differ in. */
function unitOf(freq) {
  const { unit } = stepOf(freq);
  if (unit === 'year') return 'year';
  if (unit === 'month' || unit === 'quarter') return 'month';
  return ['second', 'minute', 'hour'].includes(unit) ? 'hour' : 'day';
}

/** A time as people write it, down to this unit. */
function timeText(time, unit) {
  const moment = momentOf(time);
  return moment ? timeFormats[unit].format(moment) : cellText(time);
}
