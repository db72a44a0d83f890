// Times as users have them, as texts for the engine, and back. A kind of times has `write(value, place)` and `read(text)`.

import { refuse } from './error.js';

/** Numbers above this are epoch milliseconds (since March 1973), others numbers of steps. */
const LEAST_MILLISECONDS = 1e11;

const same = (value) => value;

/** Texts and numbers of steps, which come back as they are. */
export const PLAIN = { write: same, read: same };

/** A moment as text, in UTC. */
export function civil(date, place) {
  const milliseconds = date.getTime();
  if (Number.isNaN(milliseconds)) throw refuse('data', `${place} is an invalid Date; give valid ones`);
  return new Date(milliseconds).toISOString().replace('T', ' ').replace(/(\.000)?Z$/, '');
}

/** A text of the engine in the form of ISO 8601, with a time of day. */
const isoOf = (text) => (text.includes(' ') ? text.replace(' ', 'T') : `${text}T00:00:00`);

/** The milliseconds of a text of the engine, which is in UTC unless it says otherwise. */
const millisecondsOf = (text) => Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text.slice(10)) ? isoOf(text) : `${isoOf(text)}Z`);

const DATES = {
  write: (value, place) => (value instanceof Date ? civil(value, place) : value),
  read: (text) => new Date(millisecondsOf(text)),
};
const MILLISECONDS = {
  write: (value, place) => civil(new Date(Number(value)), place),
  read: millisecondsOf,
};

/** The class of a value of Temporal's, as `PlainDate`; by its name, since the class need not be there by itself. */
export const temporalClass = (value) => /^Temporal\.(PlainDate|PlainDateTime|ZonedDateTime|Instant)$/.exec(value?.[Symbol.toStringTag])?.[1];

/** What a value of Temporal's says of its clock: date and time of day, and the zone that it is in, if any. */
function clockOf(value) {
  const [, clock, zone] = /^(\d{4}-\d\d-\d\d(?:T[\d:.]+)?)(?:Z|[+-][\d:.]+)?(?:\[!?([^\]=]+)\])?(?:\[!?u-ca=[^\]]*\])?$/.exec(String(value)) ?? [];
  return { clock: clock?.replace('T', ' ') ?? '', zone };
}

/**
 * Times of a class of Temporal's. What has a zone is a time on its clock where all are at one time of day, as days are; else, as hours
 * are, a moment, which the changes of the zone's clock leave alone.
 */
function temporalKind(first, values) {
  const [name, made, { zone }] = [temporalClass(first), first.constructor, clockOf(first)];
  const isAlike = (value) => temporalClass(value) === name && clockOf(value).zone === zone;
  const timeOfDay = (value) => clockOf(value).clock.slice(10);
  const known = values.filter((value) => value !== null && value !== undefined);
  const isOnClock = name === 'ZonedDateTime' && known.every((value) => isAlike(value) && timeOfDay(value) === timeOfDay(first));
  const isMoment = name === 'Instant' || (name === 'ZonedDateTime' && !isOnClock);
  const write = (value, place) => {
    if (!isAlike(value) || clockOf(value).clock === '') {
      throw refuse('data', `${place} is ${String(value)}, beside times of Temporal.${name}${zone ? ` in ${zone}` : ''}; give times of one class and zone`);
    }
    return isMoment ? civil(new Date(value.epochMilliseconds), place) : clockOf(value).clock;
  };
  const read = {
    PlainDate: (text) => made.from(text.slice(0, 10)),
    PlainDateTime: (text) => made.from(isoOf(text)),
    Instant: (text) => made.from(`${isoOf(text)}Z`),
    ZonedDateTime: (text) => made.from(`${isoOf(text)}${isMoment ? 'Z' : ''}[${zone}]`),
  }[name];
  return { write, read };
}

/** The kind of the times of a column; numbers are times in the column of times alone. */
export function kindOfTimes(values, isTimes) {
  const first = values.find((value) => value !== null && value !== undefined);
  if (first instanceof Date) return DATES;
  if (temporalClass(first)) return temporalKind(first, values);
  const isNumber = typeof first === 'number' || typeof first === 'bigint';
  return isTimes && isNumber && Math.abs(Number(first)) >= LEAST_MILLISECONDS ? MILLISECONDS : PLAIN;
}
