/** Turns whatever a stage threw into an error whose name the state machine, the metrics and the operator know. */
import { AccessDeniedError, IcesweepError, ServiceUnavailableError } from '#shared/errors.ts';
import { StoreError } from '#shared/storage/object-store.ts';

const TRANSIENT_NAMES = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TooManyRequestsException',
  'InternalServerError',
  'InternalServiceException',
  'ServiceUnavailable',
  'TimeoutError',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

const DENIED_NAMES = new Set(['AccessDenied', 'AccessDeniedException', 'UnrecognizedClientException']);

interface SdkError extends Error {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

function isTransient(error: SdkError): boolean {
  const status = error.$metadata?.httpStatusCode ?? 0;
  return TRANSIENT_NAMES.has(error.name) || TRANSIENT_NAMES.has(error.code ?? '') || status >= 500;
}

/**
 * Errors of ours pass as they are. A store's throttling or outage, and the same of an AWS service, becomes
 * ServiceUnavailableError, which the state machine retries; a denial becomes AccessDeniedError.
 */
export function shapeError(thrown: unknown): Error {
  if (thrown instanceof StoreError) {
    if (thrown.fault === 'AccessDenied') return new AccessDeniedError(thrown.message, { cause: thrown });
    if (thrown.fault === 'Throttled' || thrown.fault === 'Unavailable') {
      return new ServiceUnavailableError(thrown.message, { cause: thrown });
    }
    return thrown;
  }
  if (thrown instanceof IcesweepError) return thrown;
  if (!(thrown instanceof Error)) return new Error(String(thrown));
  if (DENIED_NAMES.has(thrown.name)) return new AccessDeniedError(thrown.message, { cause: thrown });
  if (isTransient(thrown)) return new ServiceUnavailableError(thrown.message || thrown.name, { cause: thrown });
  return thrown;
}
