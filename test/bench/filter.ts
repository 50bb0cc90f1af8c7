/** Subjects: remembering keys and asking for them. Ours over fingerprints that are hashed in the same loop. */
import { BloomFilter, bitsFor, highHalf, lowHalf, PROBES } from '#shared/filter/bloom.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { cpuPerItem, type Subject, serveSubjects } from './measure.ts';

/** Keys as long as those of a Hive layout, made from one constant so that making them is little of the time. */
const FOLDER = 'wh/db/orders/data/event_day=2024-01-01/00000-0-4f3a9d21-7c1e-4b7e-9d0e-';
function liveKey(index: number): string {
  return `${FOLDER}${index}-live.parquet`;
}
function deadKey(index: number): string {
  return `${FOLDER}${index}-dead.parquet`;
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

/** The fastest of the npm libraries that take strings and can be written out. It has no types of its own. */
const library: Subject = async (entries) => {
  // @ts-expect-error untyped
  const loaded = (await import('bloomfilter')) as {
    BloomFilter: new (bits: number, probes: number) => { add(key: string): void; test(key: string): boolean };
  };
  const filter = new loaded.BloomFilter(bitsFor(entries), PROBES);
  return run({ add: (key) => filter.add(key), has: (key) => filter.test(key) }, entries, entries);
};

if (import.meta.main) await serveSubjects({ ours, set, library });
