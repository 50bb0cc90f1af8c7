/** GET and PUT of whole objects in memory: what the interpreter itself asks of the work bucket. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ObjectServer {
  readonly endpoint: string;
  /** By `/bucket/key`. */
  readonly objects: Map<string, Buffer>;
  close(): Promise<void>;
}

export async function startObjectServer(): Promise<ObjectServer> {
  const objects = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.method === 'PUT') objects.set(path, Buffer.concat(parts));
      const body = objects.get(path);
      response.writeHead(body === undefined ? 404 : 200).end(request.method === 'PUT' ? '' : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
