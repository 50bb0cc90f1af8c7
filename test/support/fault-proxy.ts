/** An HTTP proxy on loopback in front of an S3 server, which loses, cuts or replaces answers where a test says so. */
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as sendOn } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { escapeXml, textsOf, unescapeXml } from '#infra/local/s3/xml.ts';

export interface WireCall {
  readonly operation: 'deleteObjects' | 'deleteObject' | 'head' | 'other';
  readonly key: string;
  /** Of DeleteObjects; a single delete has its one key. */
  readonly keys: readonly string[];
  readonly headers: IncomingMessage['headers'];
}

export type WireEffect =
  /** Answered in place of the server. */
  | { readonly error: { readonly status: number; readonly code: string } }
  | { readonly body: string }
  /** The server does its work, and nobody hears of it. */
  | { readonly loseAnswer: true }
  /** The connection is cut in the middle of the answer's body. */
  | { readonly cutAnswer: true }
  | { readonly alter: (body: string) => string };

export type WireFault = (call: WireCall) => WireEffect | undefined | Promise<WireEffect | undefined>;

export class FaultProxy {
  /** Asked before each request is passed on. */
  onRequest: WireFault = () => undefined;
  /** Told when the server has answered, before the client hears of it. */
  onAnswer: (call: WireCall) => void | Promise<void> = () => undefined;
  readonly #target: URL;
  // A kept connection that the server is about to close would lose a request that no test meant to lose.
  readonly #agent = new Agent({ keepAlive: false });
  readonly #server = createServer((message, response) => void this.#serve(message, response));

  private constructor(target: URL) {
    this.#target = target;
  }

  static async start(endpoint: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(endpoint));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await buffer(message);
      const call = callOf(message, body);
      const effect = await this.onRequest(call);
      if (effect !== undefined && 'error' in effect) {
        const { status, code } = effect.error;
        response.writeHead(status, { 'content-type': 'application/xml' });
        response.end(`<Error><Code>${escapeXml(code)}</Code><Message>by the proxy</Message></Error>`);
        return;
      }
      if (effect !== undefined && 'body' in effect) {
        response.writeHead(200, { 'content-type': 'application/xml' }).end(effect.body);
        return;
      }
      const { answer, bytes } = await this.#forward(message, body);
      await this.onAnswer(call);
      this.#answer(response, answer, bytes, effect);
    } catch {
      // A test that throws from its hook, and a server that is gone, both look like a cut line.
      message.socket.destroy();
    }
  }

  /** Headers go as they came: the signature covers the Host. */
  async #forward(message: IncomingMessage, body: Buffer): Promise<{ answer: IncomingMessage; bytes: Buffer }> {
    const { method, url: path, headers } = message;
    const { hostname, port } = this.#target;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = sendOn({ hostname, port, method, path, headers, agent: this.#agent }, resolve);
      sent.on('error', reject).end(body);
    });
    return { answer, bytes: await buffer(answer) };
  }

  #answer(response: ServerResponse, answer: IncomingMessage, bytes: Buffer, effect: WireEffect | undefined): void {
    if (effect !== undefined && 'loseAnswer' in effect) {
      response.destroy();
      return;
    }
    const { 'transfer-encoding': _chunked, connection: _connection, ...headers } = answer.headers;
    if (effect !== undefined && 'alter' in effect) {
      const altered = Buffer.from(effect.alter(bytes.toString('utf8')));
      response.writeHead(answer.statusCode ?? 500, { ...headers, 'content-length': altered.length }).end(altered);
      return;
    }
    const length = answer.headers['content-length'] ?? String(bytes.length);
    response.writeHead(
      answer.statusCode ?? 500,
      answer.statusCode === 204 ? headers : { ...headers, 'content-length': length },
    );
    if (effect === undefined) response.end(bytes);
    else response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  }
}

function callOf({ method = '', url = '', headers }: IncomingMessage, body: Buffer): WireCall {
  const { pathname, searchParams } = new URL(url, 'http://proxy');
  const key = decodeURIComponent(pathname.split('/').slice(2).join('/'));
  if (method === 'POST' && searchParams.has('delete')) {
    const keys = textsOf(body.toString('utf8'), 'Key').map(unescapeXml);
    return { operation: 'deleteObjects', key: keys[0] ?? '', keys, headers };
  }
  if (method === 'DELETE' && !searchParams.has('versionId'))
    return { operation: 'deleteObject', key, keys: [key], headers };
  return { operation: method === 'HEAD' ? 'head' : 'other', key, keys: [], headers };
}
