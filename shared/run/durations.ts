/**
 * Ages and instants as people write them (DESIGN section 10). Only spellings with one meaning are taken: no bare numbers,
 * no months, no local times, nothing that is zero or negative.
 */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** A hundred years: beyond it a cut-off would leave the range that dates are compared in. */
const LONGEST_MS = 36_500 * DAY_MS;

/** Positive whole numbers with `h` or `d`; ISO 8601 durations of weeks, days, hours, minutes and seconds. */
export const DURATION_PATTERN =
  /^(?:[0-9]+[hd]|P(?:[0-9]+W|(?=[0-9T])(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?))$/;

export const INSTANT_PATTERN =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;

/** Either answer holds a value or says in words what is wrong with the text. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };

const HOW = 'write a duration such as "3d", "72h" or "P3D"';

function refusal(text: string): string {
  if (text.trim() === '') return `is blank; ${HOW}`;
  if (/^[+-]?[0-9.]+$/.test(text)) return `${JSON.stringify(text)} has no unit; ${HOW}`;
  if (text.startsWith('-')) return `${JSON.stringify(text)} is negative; ${HOW}`;
  if (/^P.*[0-9](?:Y|M(?!.*T))/.test(text) && !text.includes('T')) {
    return `${JSON.stringify(text)} has years or months, whose length varies; write days`;
  }
  return `${JSON.stringify(text)} is no duration; ${HOW}`;
}

/** Milliseconds of a duration. */
export function parseDuration(text: string): Parsed<number> {
  if (!DURATION_PATTERN.test(text)) return { problem: refusal(text) };
  const part = (unit: RegExp): number => Number(unit.exec(text)?.[1] ?? 0);
  const short = /^([0-9]+)([hd])$/.exec(text);
  const ms =
    short !== null
      ? Number(short[1]) * (short[2] === 'd' ? DAY_MS : HOUR_MS)
      : part(/([0-9]+)W/) * 7 * DAY_MS +
        part(/([0-9]+)D/) * DAY_MS +
        part(/([0-9]+)H/) * HOUR_MS +
        part(/T.*?([0-9]+)M/) * 60_000 +
        part(/([0-9]+)S/) * 1000;
  if (!(ms > 0)) return { problem: `${JSON.stringify(text)} is zero; ${HOW}` };
  if (ms > LONGEST_MS) return { problem: `${JSON.stringify(text)} is longer than 100 years` };
  return { value: ms };
}

/** An instant with its zone, as ISO 8601 in UTC. Days that no month has are refused, not carried over. */
export function parseInstant(text: string): Parsed<string> {
  const match = INSTANT_PATTERN.exec(text);
  if (match === null) {
    return { problem: `${JSON.stringify(text)} is no instant with a zone; write it like "2026-01-31T00:00:00Z"` };
  }
  const ms = Date.parse(text);
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number];
  const monthLength = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!Number.isFinite(ms) || day < 1 || day > monthLength) {
    return { problem: `${JSON.stringify(text)} is a day or time that does not exist` };
  }
  return { value: new Date(ms).toISOString() };
}

export type Age = { readonly ageMs: number } | { readonly instant: string };

/** `older_than`: an age or an instant. */
export function parseAge(text: string): Parsed<Age> {
  if (/^[0-9]{4}-/.test(text)) {
    const instant = parseInstant(text);
    return 'problem' in instant ? instant : { value: { instant: instant.value } };
  }
  const age = parseDuration(text);
  return 'problem' in age ? age : { value: { ageMs: age.value } };
}

/** A span in words, for messages: `3 days`, `90 minutes`. */
export function describeSpan(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [DAY_MS, 'day'],
    [HOUR_MS, 'hour'],
    [60_000, 'minute'],
    [1000, 'second'],
  ];
  const [size, word] = units.find(([unit]) => ms >= unit && ms % unit === 0) ?? [1, 'millisecond'];
  const count = ms / size;
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
