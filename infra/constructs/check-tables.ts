import type { Duration } from 'aws-cdk-lib';
import type { CleanupTableProps } from './orphan-cleanup-props.ts';

const HOUR_MS = 3_600_000;
const RATE = /^rate\((\d+) (minute|hour|day)s?\)$/;
const AT = /^at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)$/;
/** Signs that a field of a cron expression may hold, beside the wildcards and steps of all. */
const CRON_FIELD = /^[0-9A-Za-z,*?/#-]+$/;
const CRON_LIMITS: readonly (readonly [number, number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [1, 7],
  [1970, 2199],
];

/** What is wrong with a schedule expression, in words; undefined where nothing is. */
export function scheduleFault(expression: string): string | undefined {
  if (AT.test(expression)) return undefined;
  const rate = RATE.exec(expression);
  if (rate !== null) return Number(rate[1]) > 0 ? undefined : `${expression} never comes round`;
  const cron = /^cron\((.+)\)$/.exec(expression);
  if (cron === null) return `${expression} is no cron(…), rate(…) or at(…) expression`;
  return cronFault(expression, (cron[1] as string).split(/\s+/));
}

function cronFault(expression: string, fields: readonly string[]): string | undefined {
  if (fields.length !== 6)
    return `${expression} has ${fields.length} fields; minutes, hours, day, month, weekday, year are six`;
  const wrong = fields.findIndex((field, index) => {
    const [least, most] = CRON_LIMITS[index] as readonly [number, number];
    const bases = field.split(',').map((part) => part.split(/[/#]/)[0] as string);
    const numbers = bases.flatMap((part) => part.split('-')).filter((part) => /^\d+$/.test(part));
    return !CRON_FIELD.test(field) || numbers.some((text) => Number(text) < least || Number(text) > most);
  });
  if (wrong >= 0) return `${expression}: field ${wrong + 1}, ${fields[wrong]}, is out of range`;
  const [, , day, , weekday] = fields;
  if ((day === '?') === (weekday === '?')) return `${expression}: exactly one of day and weekday must be "?"`;
  return undefined;
}

/** What is wrong with a new table beside those that are there; empty where nothing is. */
export function tableFaults(
  table: CleanupTableProps,
  others: readonly CleanupTableProps[],
  floor: Duration | undefined,
): string[] {
  const faults: string[] = [];
  if (others.some((other) => other.table === table.table)) faults.push(`${table.table} is there twice`);
  const schedule = table.schedule === undefined ? undefined : scheduleFault(table.schedule.expressionString);
  if (schedule !== undefined) faults.push(schedule);
  const floorMs = floor?.toMilliseconds() ?? 24 * HOUR_MS;
  if (table.olderThan !== undefined && table.olderThan.toMilliseconds() < floorMs) {
    faults.push(`olderThan is below the floor of ${floorMs / HOUR_MS} hours`);
  }
  for (const other of others) {
    if (overlap(table.tableLocation, other.tableLocation) && !allowed(table, other)) {
      faults.push(`its location ${table.tableLocation} and that of ${other.table}, ${other.tableLocation}, overlap`);
    }
  }
  return faults;
}

function normal(location: string): string {
  return `${location.replace(/^s3[an]:/, 's3:').replace(/\/+$/, '')}/`;
}

function overlap(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  return normal(left).startsWith(normal(right)) || normal(right).startsWith(normal(left));
}

function allowed(table: CleanupTableProps, other: CleanupTableProps): boolean {
  return (table.overlapsAllowed ?? []).includes(other.table) || (other.overlapsAllowed ?? []).includes(table.table);
}
