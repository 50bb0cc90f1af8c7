/** Rule 4 of the verdict: not too much looks orphaned. Every limit refuses alone. */
import type { Judgement, Refusal } from './judge-identity.ts';
import type { GateResult } from './plan.ts';
import type { FileGroup, Tally } from './receipts.ts';

export interface ThresholdNumbers {
  /** Listed and referenced, by group. */
  readonly referenced: Readonly<Record<FileGroup, Tally>>;
  /** Candidates, superseded metadata files of ours left out. */
  readonly candidates: Readonly<Record<FileGroup, Tally>>;
  /** All candidates, superseded ones too: what would be deleted. */
  readonly all: Tally;
}

export interface ThresholdLimits {
  readonly max_orphan_percent: number;
  readonly min_files: number;
  readonly max_orphan_files?: number;
  readonly max_orphan_bytes?: number;
}

const isCount = (value: number): boolean => Number.isFinite(value) && value >= 0;

export function judgeThresholds(numbers: ThresholdNumbers, limits: ThresholdLimits): Judgement {
  if (numbers.all.files === 0) return { gates: [], refusals: [] };
  const broken = brokenNumbers(numbers, limits);
  if (broken.length > 0) {
    const gates = broken.map((name) => ({ name, value: null, limit: 0, passed: false }));
    return { gates, refusals: [refuse('numbers', `The counts of the run are no numbers: ${broken.join(', ')}.`)] };
  }
  const gates: GateResult[] = [];
  const refusals: Refusal[] = [];
  for (const group of ['content', 'metadata'] as const) {
    for (const unit of ['files', 'bytes'] as const) {
      const orphans = numbers.candidates[group][unit];
      const total = orphans + numbers.referenced[group][unit];
      const files = numbers.candidates[group].files + numbers.referenced[group].files;
      const percent = total === 0 ? 0 : (100 * orphans) / total;
      const passed = files < limits.min_files || percent <= limits.max_orphan_percent;
      gates.push({
        name: `orphan_percent_${group}_${unit}`,
        value: round(percent),
        limit: limits.max_orphan_percent,
        passed,
      });
      if (passed) continue;
      refusals.push(
        refuse(
          `orphan_percent_${group}_${unit}`,
          `${percent.toFixed(1)} % of the ${group} ${unit} look orphaned (${orphans} of ${total}), more than ` +
            `max_orphan_percent (${limits.max_orphan_percent}) allows.`,
        ),
      );
    }
  }
  for (const [name, limit, actual] of [
    ['max_orphan_files', limits.max_orphan_files, numbers.all.files],
    ['max_orphan_bytes', limits.max_orphan_bytes, numbers.all.bytes],
  ] as const) {
    if (limit === undefined) continue;
    gates.push({ name, value: actual, limit, passed: actual <= limit });
    if (actual > limit) refusals.push(refuse(name, `${actual} is more than ${name} (${limit}) allows.`));
  }
  return { gates, refusals };
}

function brokenNumbers(numbers: ThresholdNumbers, limits: ThresholdLimits): string[] {
  const named: [string, number | undefined][] = [
    ['all.files', numbers.all.files],
    ['all.bytes', numbers.all.bytes],
    ['max_orphan_percent', limits.max_orphan_percent],
    ['min_files', limits.min_files],
  ];
  for (const group of ['content', 'metadata'] as const) {
    named.push([`candidates.${group}.files`, numbers.candidates[group]?.files]);
    named.push([`candidates.${group}.bytes`, numbers.candidates[group]?.bytes]);
    named.push([`referenced.${group}.files`, numbers.referenced[group]?.files]);
    named.push([`referenced.${group}.bytes`, numbers.referenced[group]?.bytes]);
  }
  if (limits.max_orphan_files !== undefined) named.push(['max_orphan_files', limits.max_orphan_files]);
  if (limits.max_orphan_bytes !== undefined) named.push(['max_orphan_bytes', limits.max_orphan_bytes]);
  return named.filter(([, value]) => value === undefined || !isCount(value)).map(([name]) => name);
}

function refuse(rule: string, message: string): Refusal {
  return { error: 'ThresholdExceededError', rule, message };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
