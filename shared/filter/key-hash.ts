/** 64-bit fingerprints of folded keys: XXH64, seeded with the run's salt, so that false positives differ from run to run. */
import xxhash from 'xxhash-wasm';

/** Name of the hash, as it stands in the header of a filter shard. */
export const HASH_NAME = 'xxh64';

export interface KeyHasher {
  /** Fingerprint of a folded key given as UTF-8 bytes. */
  ofBytes(key: Uint8Array): bigint;
  /** Fingerprint of a folded key given as a string. */
  ofString(key: string): bigint;
}

let loading: ReturnType<typeof xxhash> | undefined;

/**
 * A hasher for one run.
 *
 * @param salt 16 hex digits, the plan's salt.
 */
export async function createKeyHasher(salt: string): Promise<KeyHasher> {
  if (!/^[0-9a-f]{16}$/.test(salt)) throw new RangeError(`A salt has 16 hex digits, not ${JSON.stringify(salt)}.`);
  loading ??= xxhash();
  const { h64Raw, h64 } = await loading;
  const seed = BigInt(`0x${salt}`);
  return {
    ofBytes: (key) => h64Raw(key, seed),
    ofString: (key) => h64(key, seed),
  };
}
