/**
 * Keys under `EncodingType=url` come form-encoded: `+` is a space, a plus is `%2B`. Decoded exactly once; a lone `%`, or bytes
 * that are no UTF-8, cannot come from a well-formed answer and refuse.
 */
import { StoreError } from './object-store.ts';

export function decodeFormKey(encoded: string): string {
  return decodeAscii(encoded) ?? decodeAny(encoded);
}

/**
 * Keys of Hive partitions have `%3D` and nothing else encoded: decoded here at a quarter of the cost. Undefined where there is
 * a plus, encoded or not, or an escape of anything but ASCII.
 */
function decodeAscii(encoded: string): string | undefined {
  let decoded = '';
  let from = 0;
  for (let at = encoded.indexOf('%'); at >= 0; at = encoded.indexOf('%', from)) {
    const code = hexDigit(encoded.charCodeAt(at + 1)) * 16 + hexDigit(encoded.charCodeAt(at + 2));
    if (!(code < 0x80)) return undefined;
    decoded += encoded.slice(from, at) + String.fromCharCode(code);
    from = at + 3;
  }
  if (from > 0) decoded += encoded.slice(from);
  else decoded = encoded;
  return decoded.includes('+') ? undefined : decoded;
}

/** NaN for anything else. */
function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

function decodeAny(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch (cause) {
    throw new StoreError('Unavailable', `The listing has a key that cannot be decoded: ${JSON.stringify(encoded)}.`, {
      cause,
    });
  }
}
