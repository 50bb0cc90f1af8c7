/** Gzip of metadata files, known by its magic bytes: names lie (`.gz.metadata.json`, `.metadata.json.gz`, plain names). */
import { constants, gunzipSync } from 'node:zlib';
import { MetadataUnreadableError } from '#shared/errors.ts';

export function isGzip(bytes: Uint8Array): boolean {
  return bytes.length >= 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** The JSON bytes of a metadata file; more than `maxBytes` of them are refused, inflated no further than that. */
export function gunzipIfNeeded(bytes: Uint8Array, source: string, maxBytes: number): Uint8Array {
  if (!isGzip(bytes)) {
    if (bytes.length > maxBytes) throw tooLarge(source, maxBytes);
    return bytes;
  }
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(source, maxBytes);
    throw new MetadataUnreadableError(`${source} cannot be gunzipped: ${(cause as Error).message}.`, { cause });
  }
}

/** What can be inflated of the first bytes of a gzip file; empty where that is nothing. */
export function inflatePrefix(bytes: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxBytes });
  } catch {
    return new Uint8Array(0);
  }
}

function tooLarge(source: string, maxBytes: number): MetadataUnreadableError {
  return new MetadataUnreadableError(`${source} holds more than ${maxBytes} bytes of JSON and was not parsed.`, {
    next: 'Expire snapshots, or raise the limit together with the memory of the functions.',
  });
}
