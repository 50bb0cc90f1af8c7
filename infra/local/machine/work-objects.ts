/** The work bucket as the interpreter needs it: whole small objects of the embedded store, over plain HTTP. */
import { StateError } from './errors.ts';
import type { MachineOptions } from './types.ts';

export interface WorkObjects {
  get(key: string): Promise<string>;
  put(key: string, body: string): Promise<void>;
}

export function openWorkObjects({ endpoint, bucket, accessKeyId = 'local' }: MachineOptions['workS3']): WorkObjects {
  // The embedded server looks at the key id of a signature and at nothing else in it.
  const signed = { authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/interpreter` };
  const urlOf = (key: string): string =>
    `${endpoint.replace(/\/$/, '')}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
  return {
    async get(key) {
      const reply = await fetch(urlOf(key), { headers: signed });
      const body = await reply.text();
      if (!reply.ok) throw new StateError('States.ItemReaderFailed', `s3://${bucket}/${key} answered ${reply.status}`);
      return body;
    },
    async put(key, body) {
      const reply = await fetch(urlOf(key), { method: 'PUT', body, headers: signed });
      await reply.arrayBuffer();
      if (!reply.ok)
        throw new StateError('States.ResultWriterFailed', `s3://${bucket}/${key} answered ${reply.status}`);
    },
  };
}
