/** Subjects: remembering keys and asking for them. Ours over fingerprints that are hashed in the same loop. */
import { BloomFilter, bitsFor, highHalf, lowHalf } from '#shared/filter/bloom.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { AbsentError, cpuPerItem, type Subject, serveSubjects } from './measure.ts';

/** Short keys, so that making them is little of the time; the same for every subject. */
function liveKey(index: number): string {
  return `d/${index}-live`;
}
function deadKey(index: number): string {
  return `d/${index}-dead`;
}

interface Memory {
  add(key: string): void;
  has(key: string): boolean;
}

async function run(memory: Memory, entries: number, probes: number) {
  const add = await cpuPerItem(entries, () => {
    for (let index = 0; index < entries; index++) memory.add(liveKey(index));
  });
  let wrong = 0;
  const ask = await cpuPerItem(probes, () => {
    for (let index = 0; index < probes; index++) if (memory.has(deadKey(index))) wrong++;
  });
  let lost = 0;
  for (let index = 0; index < Math.min(entries, 1_000_000); index++) if (!memory.has(liveKey(index))) lost++;
  if (lost > 0) throw new Error(`${lost} inserted keys are not found.`);
  return { value: add + ask, facts: { add, ask, rate: wrong / probes } };
}

const ours: Subject = async (entries) => {
  const hasher = await createKeyHasher('00112233445566ff');
  const filter = new BloomFilter(bitsFor(entries));
  const memory: Memory = {
    add(key) {
      const fingerprint = hasher.ofString(key);
      filter.add(lowHalf(fingerprint), highHalf(fingerprint));
    },
    has(key) {
      const fingerprint = hasher.ofString(key);
      return filter.has(lowHalf(fingerprint), highHalf(fingerprint));
    },
  };
  const measured = await run(memory, entries, Math.max(entries, 10_000_000));
  return { ...measured, facts: { ...measured.facts, megabytes: filter.bytes.length / 1e6 } };
};

const set: Subject = async (entries) => {
  const keys = new Set<string>();
  return run({ add: (key) => void keys.add(key), has: (key) => keys.has(key) }, entries, entries);
};

/** The fastest of the npm libraries that take strings and can be written out; not a dependency. */
const library: Subject = async (entries) => {
  const name = 'bloomfilter';
  const loaded = (await import(name).catch(() => {
    throw new AbsentError('npm package bloomfilter is not installed');
  })) as { BloomFilter: new (bits: number, probes: number) => { add(key: string): void; test(key: string): boolean } };
  const filter = new loaded.BloomFilter(bitsFor(entries), 13);
  return run({ add: (key) => filter.add(key), has: (key) => filter.test(key) }, entries, entries);
};

if (import.meta.main) await serveSubjects({ ours, set, library });
