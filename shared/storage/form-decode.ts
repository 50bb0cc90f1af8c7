/**
 * Keys under `EncodingType=url` come form-encoded: `+` is a space, a plus is `%2B`. Decoded exactly once; a lone `%`, or bytes
 * that are no UTF-8, cannot come from a well-formed answer and refuse.
 */
import { StoreError } from './object-store.ts';

export function decodeFormKey(encoded: string): string {
  if (!encoded.includes('%') && !encoded.includes('+')) return encoded;
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch (cause) {
    throw new StoreError('Unavailable', `The listing has a key that cannot be decoded: ${JSON.stringify(encoded)}.`, {
      cause,
    });
  }
}
