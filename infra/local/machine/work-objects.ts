/** The work bucket as the interpreter needs it: whole small objects of the embedded store, over plain HTTP. */
import { StateError } from './errors.ts';

export interface WorkObjects {
  get(key: string): Promise<string>;
  put(key: string, body: string): Promise<void>;
}

/** The embedded server answers no request that a web page could send; it does not check the signature itself. */
const SIGNED = { authorization: 'AWS4-HMAC-SHA256 Credential=local/interpreter' } as const;

export function openWorkObjects(endpoint: string, bucket: string): WorkObjects {
  const urlOf = (key: string): string =>
    `${endpoint.replace(/\/$/, '')}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
  return {
    async get(key) {
      const reply = await fetch(urlOf(key), { headers: SIGNED });
      const body = await reply.text();
      if (!reply.ok) throw new StateError('States.ItemReaderFailed', `s3://${bucket}/${key} answered ${reply.status}`);
      return body;
    },
    async put(key, body) {
      const reply = await fetch(urlOf(key), { method: 'PUT', body, headers: SIGNED });
      await reply.arrayBuffer();
      if (!reply.ok)
        throw new StateError('States.ResultWriterFailed', `s3://${bucket}/${key} answered ${reply.status}`);
    },
  };
}
