/** A small HTTP server that answers what a test tells it, and remembers what it was asked. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection is cut instead of an answer. */
  readonly cut?: true;
}

export interface HttpReplies extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
}

export async function httpReplies(answer: (asked: Asked) => Reply): Promise<HttpReplies> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const each = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: await text(request),
    };
    asked.push(each);
    const { status = 200, json = {}, headers = {}, cut } = answer(each);
    if (cut === true) {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
