/** What an SDK error means for a caller. */
import { StoreError, type StoreFault } from './object-store.ts';

interface SdkError extends Error {
  readonly Code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly statusCode?: number };
}

const BY_CODE: Readonly<Record<string, StoreFault>> = {
  NoSuchKey: 'NotFound',
  NoSuchVersion: 'NotFound',
  NotFound: 'NotFound',
  NoSuchBucket: 'NoSuchBucket',
  AccessDenied: 'AccessDenied',
  AllAccessDisabled: 'AccessDenied',
  ExpiredToken: 'AccessDenied',
  InvalidAccessKeyId: 'AccessDenied',
  SignatureDoesNotMatch: 'AccessDenied',
  PreconditionFailed: 'PreconditionFailed',
  ConditionalRequestConflict: 'Unavailable',
  OperationAborted: 'Unavailable',
  // A 400 that says nothing of the request: the connection was too slow.
  RequestTimeout: 'Unavailable',
  SlowDown: 'Throttled',
  Throttling: 'Throttled',
  ThrottlingException: 'Throttled',
  TooManyRequestsException: 'Throttled',
  RequestLimitExceeded: 'Throttled',
  InternalError: 'Unavailable',
  ServiceUnavailable: 'Throttled',
  NotImplemented: 'NotImplemented',
  MethodNotAllowed: 'NotImplemented',
};

/** A StoreError for anything that the SDK throws. A reply without a status is the network's fault: Unavailable. */
export function toStoreError(error: unknown, action: string, bucket: string, key: string): StoreError {
  if (error instanceof StoreError) return error;
  const { name, message, Code, $metadata, $response } = (
    error instanceof Error ? error : new Error(String(error))
  ) as SdkError;
  const code = Code ?? name;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  const fault = isSilent(status, code, Code, action) ? 'Unavailable' : (BY_CODE[code] ?? byStatus(status));
  return new StoreError(fault, `${action} of s3://${bucket}/${key}: ${code}: ${message}`, {
    code,
    cause: error,
    ...(status === undefined ? {} : { status }),
  });
}

/**
 * A 404 that does not say what is absent comes from something in between, not from the store: it must not pass for the
 * object's absence. Only a HEAD has no body to say it in.
 */
function isSilent(status: number | undefined, code: string, given: string | undefined, action: string): boolean {
  return status === 404 && action !== 'HeadObject' && given === undefined && !code.startsWith('NoSuch');
}

function byStatus(status: number | undefined): StoreFault {
  if (status === undefined) return 'Unavailable';
  if (status === 404) return 'NotFound';
  if (status === 401 || status === 403) return 'AccessDenied';
  if (status === 412) return 'PreconditionFailed';
  if (status === 409) return 'Unavailable';
  if (status === 429 || status === 503) return 'Throttled';
  if (status === 405 || status === 501) return 'NotImplemented';
  // A 200 that does not parse is no answer.
  return status >= 500 || status < 400 ? 'Unavailable' : 'BadRequest';
}
