/**
 * Rule 3 of the verdict: the files that the table needs are really where the run looked. Names that point nowhere,
 * together with files that nobody names, mean that names are being read wrong.
 */
import type { Judgement, Refusal } from './judge-identity.ts';

export interface Coverage {
  /** Distinct paths that live entries of the pinned metadata place under the roots. */
  readonly covered: number;
  /** Of these, not listed. */
  readonly missing: number;
  /** Distinct content files named anywhere. */
  readonly named: number;
  readonly contentCandidates: number;
  /** `location` narrows the run. */
  readonly narrowed: boolean;
  readonly maxMissingPercent: number;
}

const LEAST_MISSING = 10;
const MISSING_SHARE = 0.1;

/** Above this limit nothing is missing too much for the first two rules. One machine only. */
const OFF = 100;

export function judgeCoverage(coverage: Coverage): Judgement {
  const { covered, missing, named, contentCandidates, narrowed, maxMissingPercent } = coverage;
  const sane =
    [covered, missing, named, contentCandidates].every((count) => Number.isSafeInteger(count) && count >= 0) &&
    missing <= covered &&
    maxMissingPercent >= 0;
  const percent = covered === 0 ? 0 : (100 * missing) / covered;
  const off = maxMissingPercent === OFF;
  const tooMany = !sane || (!off && percent > maxMissingPercent);
  const mixed =
    !off && contentCandidates > 0 && missing >= LEAST_MISSING && missing >= MISSING_SHARE * contentCandidates;
  const elsewhere = !narrowed && named > 0 && covered === 0 && contentCandidates > 0;
  const refusals: Refusal[] = [];
  if (tooMany) {
    refusals.push(
      refusal(
        'coverage_missing',
        `${missing} of ${covered} referenced files (${percent.toFixed(1)} %) were not found under the roots, ` +
          `more than max_missing_percent (${maxMissingPercent}) allows. Repair the table or its path settings.`,
      ),
    );
  }
  if (mixed) {
    refusals.push(
      refusal(
        'coverage_mixed',
        `${missing} referenced files were not found while ${contentCandidates} files look orphaned: names may be read wrong. ` +
          'Compare a missing path with the listed keys.',
      ),
    );
  }
  if (elsewhere) {
    refusals.push(
      refusal(
        'coverage_elsewhere',
        `The table names ${named} content files, none of them under the roots, where ${contentCandidates} files look orphaned. ` +
          'Check location, write.data.path and path_aliases.',
      ),
    );
  }
  return {
    gates: [
      { name: 'missing_percent', value: round(percent), limit: maxMissingPercent, passed: !tooMany },
      { name: 'missing_with_candidates', value: missing, limit: LEAST_MISSING, passed: !mixed },
      { name: 'files_under_roots', value: covered, limit: null, passed: !elsewhere },
    ],
    refusals,
  };
}

function refusal(rule: string, message: string): Refusal {
  return { error: 'ReferencedFilesMissingError', rule, message };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
