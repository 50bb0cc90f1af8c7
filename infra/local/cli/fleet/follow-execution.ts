/** Follows an execution until it ends or the person leaves; a network that is gone for a while ends nothing. */
import { setTimeout } from 'node:timers/promises';
import { AccessDeniedError, ServiceUnavailableError } from '#shared/errors.ts';

const POLL_MS = 2000;
const LONGEST_WAIT_MS = 30_000;
/** Questions without an answer, a good ten minutes in all: long enough for a laptop that changes its network. */
const PATIENCE = 30;

export interface FollowedExecution<Described extends { readonly status?: string | undefined }> {
  readonly arn: string;
  /** Rejects with ServiceUnavailableError where a later question may be answered. */
  readonly describe: (leaving: AbortSignal) => Promise<Described>;
  /** Shows how far it is. Its faults are of no consequence. */
  readonly showProgress: (leaving: AbortSignal) => Promise<void>;
  readonly say: (text: string) => void;
}

/** Settles after the time, or at once when the person leaves. */
export async function waitUnlessLeaving(ms: number, leaving: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal: leaving }).catch(() => {});
}

/** What is thrown when the execution can no longer be seen: it goes on, and that must be said. */
function outOfSight(error: unknown, arn: string): unknown {
  const next = 'The run goes on all the same: look at it in the console, or later with icesweep report.';
  if (error instanceof ServiceUnavailableError)
    return new ServiceUnavailableError(`${arn} cannot be followed any longer. ${error.message}`, {
      cause: error,
      next,
    });
  if (error instanceof AccessDeniedError)
    return new AccessDeniedError(`${arn} was started and cannot be followed. ${error.message}`, { cause: error, next });
  return error;
}

/**
 * Asks every two seconds, less often while nobody answers.
 *
 * @returns what the execution came to; undefined where the person left
 * @throws ServiceUnavailableError, AccessDeniedError the execution is out of sight, and goes on
 */
export async function followExecution<Described extends { readonly status?: string | undefined }>(
  execution: FollowedExecution<Described>,
  leaving: AbortSignal,
  wait = waitUnlessLeaving,
): Promise<Described | undefined> {
  let unanswered = 0;
  while (!leaving.aborted) {
    try {
      const described = await execution.describe(leaving);
      if (unanswered > 0) execution.say('Step Functions answers again.');
      unanswered = 0;
      if (described.status !== 'RUNNING' && described.status !== 'PENDING_REDRIVE') return described;
      await execution.showProgress(leaving).catch(() => {});
    } catch (error) {
      if (leaving.aborted) return undefined;
      unanswered += 1;
      if (!(error instanceof ServiceUnavailableError) || unanswered >= PATIENCE) throw outOfSight(error, execution.arn);
      if (unanswered === 1) execution.say(`${error.message} The run goes on; it is asked for again.`);
    }
    await wait(Math.min(LONGEST_WAIT_MS, POLL_MS * 2 ** unanswered), leaving);
  }
  return undefined;
}
