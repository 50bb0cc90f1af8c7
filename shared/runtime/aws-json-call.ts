/**
 * One signed call of an AWS service that speaks JSON, for the two services of which we need a single operation each. A
 * client of the SDK would double the bundle of every function for it.
 */
import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessDeniedError, ServiceUnavailableError } from '#shared/errors.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface AwsJsonCall {
  /** Name of the service in host and signature, e.g. `events`. */
  readonly service: string;
  /** `X-Amz-Target`, e.g. `AWSEvents.PutEvents`. */
  readonly target: string;
  readonly region: string;
  readonly body: unknown;
}

const ATTEMPTS = 4;
const ATTEMPT_MS = 10_000;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Signature version 4 over the headers; `amzDate` as `20260131T235959Z`. */
export function signedHeaders(
  call: AwsJsonCall,
  host: string,
  body: string,
  amzDate: string,
  credentials: Credentials,
): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/x-amz-json-1.1',
    host,
    'x-amz-date': amzDate,
    ...(credentials.sessionToken === undefined ? {} : { 'x-amz-security-token': credentials.sessionToken }),
    'x-amz-target': call.target,
  };
  const names = Object.keys(headers).sort();
  const canonicalHeaders = names.map((name) => `${name}:${headers[name]}\n`).join('');
  const request = ['POST', '/', '', canonicalHeaders, names.join(';'), sha256(body)].join('\n');
  const day = amzDate.slice(0, 8);
  const scope = `${day}/${call.region}/${call.service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', amzDate, scope, sha256(request)].join('\n');
  const parts = [day, call.region, call.service, 'aws4_request'];
  const key = parts.reduce<string | Buffer>((soFar, part) => hmac(soFar, part), `AWS4${credentials.secretAccessKey}`);
  const signature = hmac(key, toSign).toString('hex');
  const authorization =
    `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, ` +
    `SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...headers, authorization };
}

function hostOf(call: AwsJsonCall): string {
  return `${call.service}.${call.region}.${call.region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`;
}

async function attempt(call: AwsJsonCall, credentials: Credentials, send: typeof fetch): Promise<Response> {
  const body = JSON.stringify(call.body);
  const amzDate = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  // `fetch` writes the host itself.
  const { host: _host, ...headers } = signedHeaders(call, hostOf(call), body, amzDate, credentials);
  return send(`https://${hostOf(call)}/`, { method: 'POST', body, headers, signal: AbortSignal.timeout(ATTEMPT_MS) });
}

function isThrottle(status: number, text: string): boolean {
  return status === 429 || status >= 500 || /Throttl|TooManyRequests|LimitExceeded/.test(text.slice(0, 500));
}

/**
 * Calls the service, a few times where it does not answer. Throws AccessDeniedError, ServiceUnavailableError, or an Error
 * with the service's own words.
 */
export async function callAwsJson(
  call: AwsJsonCall,
  credentials: Credentials,
  send: typeof fetch = fetch,
): Promise<unknown> {
  let last = '';
  for (let tried = 0; tried < ATTEMPTS; tried++) {
    if (tried > 0) await sleep(Math.random() * 200 * 2 ** tried);
    try {
      const reply = await attempt(call, credentials, send);
      const text = await reply.text();
      if (reply.ok) return JSON.parse(text || '{}');
      last = `${reply.status} ${text.slice(0, 500)}`;
      if (/AccessDenied|UnrecognizedClient|InvalidSignature/.test(text)) {
        throw new AccessDeniedError(`${call.target} is denied: ${last}`);
      }
      if (!isThrottle(reply.status, text)) throw new Error(`${call.target} failed: ${last}`);
    } catch (error) {
      // `fetch` says TypeError for a connection that failed, and the time limit has a name of its own.
      if (!(error instanceof TypeError) && (error as Error).name !== 'TimeoutError') throw error;
      last = String(error);
    }
  }
  throw new ServiceUnavailableError(`${call.target} does not answer: ${last}`);
}
