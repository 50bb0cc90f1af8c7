/** A store that allows so many deleted keys a second, on a virtual clock, and counts what it saw. */
import { type MemoryStore, type StoreCall, storeFault } from './memory-store.ts';

export interface ThrottleCounts {
  throttled: number;
  accepted: number;
  inFlight: number;
  mostInFlight: number;
}

/** Refuses a DeleteObjects request as a whole while the bucket of keys is empty; it fills with `keysPerSecond`. */
export function throttleDeletes(store: MemoryStore, keysPerSecond: number, now: () => number): ThrottleCounts {
  const counts = { throttled: 0, accepted: 0, inFlight: 0, mostInFlight: 0 };
  let tokens = keysPerSecond;
  let last = now();
  store.options = {
    ...store.options,
    onCall: ({ operation, keys, phase }: StoreCall) => {
      if (operation !== 'deleteObjects') return;
      if (phase === 'after') return void counts.inFlight--;
      tokens = Math.min(2 * keysPerSecond, tokens + ((now() - last) / 1000) * keysPerSecond);
      last = now();
      const wanted = keys?.length ?? 0;
      if (wanted > tokens) {
        counts.throttled++;
        throw storeFault('Throttled');
      }
      tokens -= wanted;
      counts.accepted += wanted;
      counts.inFlight++;
      counts.mostInFlight = Math.max(counts.mostInFlight, counts.inFlight);
    },
  };
  return counts;
}
