/** A headless Chromium driven over its own protocol, for tests of pages. Absent on many machines: ask `findChromium` first. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Visit {
  /** What the page or the browser wrote to its console, policy violations among it. */
  readonly console: readonly string[];
  /** Every address that was asked for. */
  readonly requests: readonly string[];
  /** From navigation to the load event. */
  readonly loadMs: number;
  evaluate<T>(expression: string): Promise<T>;
  /** `print` shows what paper would. */
  media(name: 'screen' | 'print'): Promise<unknown>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

export function findChromium(): string | undefined {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // Not this one.
    }
  }
  return undefined;
}

async function until<T>(what: string, look: () => T | undefined): Promise<T> {
  for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 50) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Chromium gave no ${what} within 30 s`);
}

/** One tab's protocol: requests by id, events collected from the moment it is enabled. */
class DevTools {
  readonly console: string[] = [];
  readonly requests: string[] = [];
  readonly loaded: Promise<void>;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #onLoad: () => void = () => {};
  #id = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.loaded = new Promise((resolve) => {
      this.#onLoad = resolve;
    });
    socket.onmessage = (event) => this.#take(JSON.parse(String(event.data)) as Message);
  }

  #take(message: Message): void {
    if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    if (message.method === 'Page.loadEventFired') this.#onLoad();
    if (message.method === 'Network.requestWillBeSent') {
      this.requests.push((message.params as { request: { url: string } }).request.url);
    }
    if (['Runtime.exceptionThrown', 'Runtime.consoleAPICalled', 'Log.entryAdded'].includes(message.method ?? '')) {
      this.console.push(JSON.stringify(message.params));
    }
  }

  async send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.#id += 1;
    const id = this.#id;
    const answer = await new Promise<Message>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result ?? {};
  }

  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    return (answer as { result: { value: T } }).result.value;
  }
}

export class Browser {
  readonly #process: ChildProcess;
  readonly #profile: string;

  constructor(program: string) {
    this.#profile = mkdtempSync(join(tmpdir(), 'icesweep-browser-'));
    const flags = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
    ];
    this.#process = spawn(
      program,
      [...flags, `--user-data-dir=${this.#profile}`, '--remote-debugging-port=0', 'about:blank'],
      { stdio: 'ignore' },
    );
  }

  async #address(): Promise<string> {
    const file = join(this.#profile, 'DevToolsActivePort');
    const port = await until('port', () =>
      existsSync(file) ? readFileSync(file, 'utf8').split('\n')[0] || undefined : undefined,
    );
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    return targets.find((target) => target.type === 'page')?.webSocketDebuggerUrl as string;
  }

  /** Opens a local file in the one tab and waits until it has loaded. */
  async open(file: string, width = 1280): Promise<Visit> {
    const socket = new WebSocket(await this.#address());
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    const tools = new DevTools(socket);
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await tools.send(`${domain}.enable`);
    await tools.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
    const startedMs = performance.now();
    await tools.send('Emulation.setEmulatedMedia', { media: '' });
    await tools.send('Page.navigate', { url: pathToFileURL(file).href });
    await tools.loaded;
    const { console, requests } = tools;
    return {
      console,
      requests,
      loadMs: performance.now() - startedMs,
      evaluate: (expression) => tools.evaluate(expression),
      media: (media) => tools.send('Emulation.setEmulatedMedia', { media }),
    };
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await gone;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
