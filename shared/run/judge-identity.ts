/** Rule 2 of the verdict: names can be told apart, and nobody else lives under the roots. */

import type { CompleteReceipts } from './judge-books.ts';
import type { GateResult, Plan } from './plan.ts';

/** What a rule says: its gate results for the record, and its refusals. */
export interface Judgement {
  readonly gates: readonly GateResult[];
  readonly refusals: readonly Refusal[];
}

export interface Refusal {
  readonly error:
    | 'PrefixMismatchError'
    | 'LocationConflictError'
    | 'ListingIncompleteError'
    | 'ReferencedFilesMissingError'
    | 'TableChangedError'
    | 'ThresholdExceededError';
  /** Literal name of the rule; a plan refused by others than the overridable ones cannot be deleted later. */
  readonly rule: string;
  readonly message: string;
}

export function judgeIdentity(plan: Plan, { scans }: CompleteReceipts): Judgement {
  const ignored = plan.input.prefix_mismatch_mode === 'IGNORE';
  const faults = scans.flatMap((receipt) => receipt.faults);
  const refusing = faults.filter((tally) => !(ignored && tally.fault === 'prefix_mismatch'));
  const count = refusing.reduce((total, tally) => total + tally.count, 0);
  const spellings = [...new Set(scans.flatMap((receipt) => receipt.unlisted_spellings))];
  const refusals: Refusal[] = [];
  if (count > 0) {
    const [first] = refusing;
    refusals.push({
      error: 'PrefixMismatchError',
      rule: 'identity',
      message:
        `${count} recorded paths cannot be told to be, or not to be, listed files (${first?.fault}: ${first?.evidence}; ` +
        `for example ${first?.sample[0]}). Map them with equal_schemes, equal_authorities or path_aliases.`,
    });
  }
  if (spellings.length > 0) {
    refusals.push({
      error: 'ListingIncompleteError',
      rule: 'spellings',
      message: `The metadata names files under spellings of a root that were not listed: ${spellings.slice(0, 3).join(', ')}.`,
    });
  }
  return {
    gates: [
      { name: 'prefix_mismatches', value: count, limit: 0, passed: count === 0 },
      { name: 'unlisted_spellings', value: spellings.length, limit: 0, passed: spellings.length === 0 },
    ],
    refusals,
  };
}

export function judgeForeigners({ lists }: CompleteReceipts): Judgement {
  const foreign = lists.reduce((total, receipt) => total + receipt.foreign_count, 0);
  const formats = lists.reduce((total, receipt) => total + receipt.other_formats_count, 0);
  const refusals: Refusal[] = [];
  if (foreign > 0) {
    const first = lists.flatMap((receipt) => receipt.foreign)[0];
    refusals.push({
      error: 'LocationConflictError',
      rule: 'foreign_metadata',
      message:
        `${foreign} metadata files under the roots are not this table's (${first?.found}: ${first?.key}). Another table writes ` +
        'here, or did: separate them, or name a dropped table in former_table_uuids.',
    });
  }
  if (formats > 0) {
    refusals.push({
      error: 'LocationConflictError',
      rule: 'other_formats',
      message: `${formats} files of another table format lie under the roots, for example ${lists.flatMap((receipt) => receipt.other_formats)[0]}.`,
    });
  }
  return {
    gates: [
      { name: 'foreign_metadata_files', value: foreign, limit: 0, passed: foreign === 0 },
      { name: 'other_table_formats', value: formats, limit: 0, passed: formats === 0 },
    ],
    refusals,
  };
}
