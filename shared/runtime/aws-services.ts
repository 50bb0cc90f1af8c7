/** EventBridge and Secrets Manager as ports. */
import { MisconfiguredError } from '#shared/errors.ts';
import { EVENT_SOURCE, type RunDetailType } from '#shared/run/run-events.ts';
import { type Credentials, callAwsJson } from './aws-json-call.ts';
import type { LogFields, RunEvents, Secrets } from './stage-ports.ts';

/** EventBridge's limit for an entry is 256 KB; a record is under 50. */
const MOST_DETAIL_BYTES = 240_000;

export interface Caller {
  readonly region: string;
  /** Read at each call: Lambda renews them. */
  readonly credentials: () => Credentials;
}

/** Events on a bus, best effort: a fault is logged, never thrown. */
export function openRunEvents(
  bus: string,
  caller: Caller,
  warn: (message: string, fields: LogFields) => void,
  call = callAwsJson,
): RunEvents {
  return {
    async publish(type, detail) {
      const text = JSON.stringify(detail);
      const entry = {
        EventBusName: bus,
        Source: EVENT_SOURCE,
        DetailType: `Orphan Cleanup Run ${type}` satisfies RunDetailType,
        Detail:
          Buffer.byteLength(text) <= MOST_DETAIL_BYTES ? text : JSON.stringify({ ...detail, sample: [], warnings: [] }),
      };
      try {
        const reply = (await call(
          { service: 'events', target: 'AWSEvents.PutEvents', region: caller.region, body: { Entries: [entry] } },
          caller.credentials(),
        )) as { readonly FailedEntryCount?: number };
        if ((reply.FailedEntryCount ?? 0) > 0) warn('Event not taken', { type, reply });
      } catch (error) {
        warn('Event not published', { type, fault: String(error) });
      }
    },
  };
}

/** Secrets by name or ARN. A secret in binary form is not one of ours. */
export function openSecretsManager(caller: Caller, call = callAwsJson): Secrets {
  return {
    async read(name) {
      const reply = (await call(
        {
          service: 'secretsmanager',
          target: 'secretsmanager.GetSecretValue',
          region: caller.region,
          body: { SecretId: name },
        },
        caller.credentials(),
      )) as { readonly SecretString?: string };
      if (reply.SecretString !== undefined) return reply.SecretString;
      throw new MisconfiguredError(`The secret ${name} holds no text.`);
    },
  };
}
