/** Errors as Step Functions names them. `message` is what the state machine sees as the Cause. */
export class StateError extends Error {
  override readonly name: string;
  /** States.DataLimitExceeded and States.Runtime are not caught by States.ALL. */
  readonly isCatchable: boolean;
  readonly isRetryable: boolean;

  constructor(name: string, cause: string) {
    super(cause);
    this.name = name;
    const terminal = name === 'States.DataLimitExceeded' || name === 'States.Runtime';
    this.isCatchable = !terminal;
    this.isRetryable = !terminal;
  }
}

/** What a Lambda function's error looks like from the state machine: the Cause is the function's error as JSON. */
export function functionError(errorType: string, errorMessage: string, trace: readonly string[] = []): StateError {
  return new StateError(errorType, JSON.stringify({ errorType, errorMessage, ...(trace.length > 0 ? { trace } : {}) }));
}

/** Step Functions' limit for the input or output of a state, in bytes of UTF-8. */
export const STATE_LIMIT_BYTES = 262_144;

export function withinStateLimit<Value>(value: Value, what: string): Value {
  const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
  if (bytes <= STATE_LIMIT_BYTES) return value;
  throw new StateError(
    'States.DataLimitExceeded',
    `${what} is ${bytes} bytes, more than the ${STATE_LIMIT_BYTES} bytes that a state may hold`,
  );
}
