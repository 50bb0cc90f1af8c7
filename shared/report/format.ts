/** Numbers, sizes, times and names as a person reads them, in the terminal and in pages. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** `17.0 GiB`; bytes below a KiB are exact. */
export function humanBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return '?';
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** `214,902`. */
export function humanCount(count: number): string {
  return Number.isFinite(count) ? Math.round(count).toLocaleString('en-US') : '?';
}

/** `1 orphan file`, `2 orphan files`. */
export function counted(count: number, noun: string): string {
  return `${humanCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2026-11-27 05:16 UTC`, or the text itself where it is no time. */
export function humanTime(iso: string | null): string {
  if (iso === null) return 'unknown';
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? printable(iso) : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `4 s`, `3 min 20 s`, `2 h 5 min`, `6 d 3 h`. */
export function humanDuration(ms: number): string {
  if (!Number.isFinite(ms)) return '?';
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/**
 * A name that may come from anyone, made harmless to look at: control characters, line separators and characters that
 * turn the writing direction are shown as escapes.
 */
export function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
