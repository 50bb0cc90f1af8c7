/** What an AWS service refuses, as the error that a person knows: what was asked of whom, and what to do next. */
import { AccessDeniedError, IcesweepError, InvalidInputError, ServiceUnavailableError } from '#shared/errors.ts';
import { shapeError } from '#shared/runtime/shape-error.ts';

export interface AskedService {
  /** As it stands in messages: `Step Functions`. */
  readonly service: string;
  /** Prefix of its actions: `states`. */
  readonly prefix: string;
  /** What was asked about: `state machine arn:…`. */
  readonly resource: string;
  /** Error names that say that there is no such thing, or that it is named wrongly. */
  readonly absent: readonly string[];
  /** What to check then. */
  readonly check: string;
  /** Error names that the caller deals with. */
  readonly passed: readonly string[];
}

const WITHOUT_CREDENTIALS = new Set(['CredentialsProviderError', 'TokenProviderError']);
const EXPIRED = /^(ExpiredToken|UnrecognizedClient|InvalidClientTokenId|InvalidSignature|SignatureDoesNotMatch)/;

/** A connection that failed has a code; where all addresses of a host failed it has no words. */
function wordsOf(error: Error): string {
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}

/** @param action the call's name, as its permission is spelled: `StartExecution` */
export function nameServiceFault(error: unknown, action: string, asked: AskedService): unknown {
  if (!(error instanceof Error) || error instanceof IcesweepError || asked.passed.includes(error.name)) return error;
  const { service, prefix, resource, check } = asked;
  const said = wordsOf(error);
  const because = { cause: error };
  if (WITHOUT_CREDENTIALS.has(error.name)) {
    return new AccessDeniedError(`No credentials to ask ${service} with: ${said}.`, {
      ...because,
      next: 'Set --profile NAME or AWS’s own variables, and log in again where they have expired.',
    });
  }
  if (error.message === 'Region is missing')
    return new InvalidInputError(`No region to ask ${service} in.`, {
      ...because,
      next: 'Set --region NAME or AWS_REGION.',
    });
  if (asked.absent.includes(error.name))
    return new InvalidInputError(`${service} knows no ${resource}: ${said}.`, { ...because, next: check });
  if (EXPIRED.test(error.name)) {
    return new AccessDeniedError(`${service} does not take these credentials: ${said}.`, {
      ...because,
      next: 'Log in again, or name another --profile.',
    });
  }
  const shaped = shapeError(error);
  if (shaped instanceof AccessDeniedError) {
    return new AccessDeniedError(`${prefix}:${action} on ${resource} was denied: ${said}.`, {
      ...because,
      next: 'Ask for it; grantStart and grantRead of the construct grant it.',
    });
  }
  if (shaped instanceof ServiceUnavailableError)
    return new ServiceUnavailableError(`${service} did not answer ${action}: ${said}.`, because);
  return error;
}

/** The part of an SDK client's middleware stack that is needed here; the same for the clients of all services. */
interface Client {
  readonly middlewareStack: {
    add(middleware: unknown, options: { step: 'initialize'; priority: 'high'; name: string }): void;
  };
}

type Next = (args: unknown) => Promise<unknown>;

/** Makes every call of the client throw errors that name themselves. The SDK's own retries lie inside. */
export function nameFaultsOf<C extends Client>(client: C, asked: AskedService): C {
  const middleware =
    (next: Next, context: { readonly commandName?: string }): Next =>
    async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw nameServiceFault(error, (context.commandName ?? '').replace(/Command$/, ''), asked);
      }
    };
  client.middlewareStack.add(middleware, { step: 'initialize', priority: 'high', name: 'icesweepNamesFaults' });
  return client;
}
