/** How a run ended: its verdict, or the error that began its end. */
import { AccessDeniedError, DeletesFailedError, type IcesweepError, type Verdict } from '#shared/errors.ts';
import { counted } from '#shared/report/format.ts';
import type { RecordEvent, RunState } from '#shared/run/messages.ts';
import { nextStepOf } from '#shared/run/next-steps.ts';
import { ENDED_ERRORS } from '#shared/runtime/execution-ended-event.ts';
import type { Gathered } from './gather.ts';

/** True for the errors of an execution that was ended from outside. */
export function endedFromOutside(error: string | undefined): boolean {
  return Object.values<string>(ENDED_ERRORS).includes(error ?? '');
}

/** Settled in full, or not: what failed, was left or never answered makes it PARTIAL; nothing settled at all is a failure. */
export function deletedVerdict(gathered: Gathered): Verdict {
  const count = (result: 'deleted' | 'absent' | 'rescued' | 'changed' | 'failed' | 'unknown' | 'left') =>
    gathered.outcomes.reduce((total, outcome) => total + outcome.tallies[result].files, 0);
  const open = count('failed') + count('unknown') + count('left');
  const settled = count('deleted') + count('absent') + count('rescued') + count('changed');
  if (settled === 0 && count('failed') + count('unknown') > 0) throw noneDeleted(gathered, open);
  // Notes of earlier stages tell of attempts that a retry mended.
  const note = gathered.notes.find((candidate) => candidate.stage === 'delete');
  if (settled === 0 && open > 0 && note !== undefined) {
    throw new DeletesFailedError(`No batch could be deleted: ${note.error}: ${note.message}`);
  }
  return open > 0 ? 'PARTIAL' : 'DELETED';
}

function noneDeleted(gathered: Gathered, files: number): IcesweepError {
  const codes = [...new Set(gathered.outcomes.flatMap((outcome) => Object.keys(outcome.codes)))];
  if (codes.length === 1 && codes[0] === 'AccessDenied') {
    return new AccessDeniedError(`Deleting ${counted(files, 'file')} was denied.`, {
      next: 'Grant s3:DeleteObject and s3:GetObject under the roots of the table; for a directory, the right to write to its folders (chmod or chown).',
    });
  }
  return new DeletesFailedError(`None of ${files} files could be deleted (${codes.join(', ') || 'no answer'}).`, {
    next: nextStepOf('DeletesFailedError'),
  });
}

/** Of a run that was not to delete. */
export function quietVerdict(event: RecordEvent, run: RunState): Verdict {
  if (run.outcome === 'SKIPPED') return 'SKIPPED';
  return event.state.evaluation?.verdict === 'DRY_RUN' ? 'DRY_RUN' : 'NOTHING_TO_DO';
}

/** The error that began it: a worker's note, a stop marker or evaluate's refusal goes before the map's own words. */
export function trueError(event: RecordEvent, gathered: Gathered): { readonly error: string; readonly cause: string } {
  const { evaluation, error } = event.state;
  if (error !== undefined && endedFromOutside(error.Error)) {
    return { error: error.Error, cause: error.Cause };
  }
  if (gathered.stop !== undefined) return { error: gathered.stop.error, cause: gathered.stop.message };
  if (error === undefined && evaluation !== undefined) return { error: evaluation.error, cause: evaluation.cause };
  const note = gathered.notes.find((candidate) => !candidate.transient) ?? gathered.notes[0];
  const fromMap = error === undefined || error.Error.startsWith('States.');
  if (fromMap && note !== undefined) return { error: note.error, cause: note.message };
  return { error: error?.Error ?? 'States.Runtime', cause: sentenceOf(error?.Cause ?? '') };
}

/** Lambda's Cause is JSON with the message inside. */
function sentenceOf(cause: string): string {
  try {
    const parsed = JSON.parse(cause) as { readonly errorMessage?: unknown };
    if (typeof parsed.errorMessage === 'string') return parsed.errorMessage;
  } catch {
    // Not JSON: the text is the cause.
  }
  return cause || 'The state machine gave no cause.';
}
