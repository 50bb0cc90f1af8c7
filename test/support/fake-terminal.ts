/** A terminal of a test: keeps what was written and answers what is asked. */
import type { Terminal } from '#infra/local/cli/terminal.ts';

export interface FakeTerminalOptions {
  readonly answers?: readonly (string | undefined)[];
  readonly canAsk?: boolean;
  readonly live?: boolean;
  readonly width?: number;
}

export class FakeTerminal implements Terminal {
  outText = '';
  errText = '';
  readonly canAsk: boolean;
  readonly live: boolean;
  readonly colour = false;
  readonly outIsRead = false;
  readonly #answers: (string | undefined)[];
  readonly #width: number;

  constructor(options: FakeTerminalOptions = {}) {
    this.#answers = [...(options.answers ?? [])];
    this.canAsk = options.canAsk ?? true;
    this.live = options.live ?? false;
    this.#width = options.width ?? 80;
  }

  readonly out = async (text: string): Promise<void> => {
    this.outText += text;
  };
  readonly err = (text: string): void => {
    this.errText += text;
  };
  readonly columns = (): number => this.#width;
  readonly outColumns = (): number => this.#width;
  readonly ask = async (question: string): Promise<string | undefined> => {
    this.errText += question;
    return this.#answers.shift();
  };
}
