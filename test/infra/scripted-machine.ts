/** The synthesized machine with stages that follow a script, in a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMachine } from '#infra/local/machine/machine.ts';
import { loadMachineFile } from '#infra/local/machine/machine-file.ts';
import type { ExecutionEnd, Machine, MachineEvent, MachineFile, MachineOptions } from '#infra/local/machine/types.ts';
import type { Script } from './fake-functions/script.ts';
import { type ObjectServer, startObjectServer } from './object-server.ts';

export const FAKE_FUNCTIONS = join(import.meta.dirname, 'fake-functions');

export interface ScriptedMachine extends AsyncDisposable {
  readonly machine: Machine;
  readonly stateDir: string;
  readonly store: ObjectServer;
  /** Runs one execution; answers how it ended and what it told. */
  play(script: Script, input?: object): Promise<{ end: ExecutionEnd; states: string[]; events: MachineEvent[] }>;
}

export function scriptedMachineFile(): Promise<MachineFile> {
  return loadMachineFile({ functionsDir: FAKE_FUNCTIONS });
}

export async function startScriptedMachine(options: Partial<MachineOptions> = {}): Promise<ScriptedMachine> {
  const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), 'icesweep-machine-'));
  const store = await startObjectServer();
  const machine = await startMachine({
    stateDir,
    tableS3: {},
    workS3: { endpoint: store.endpoint, bucket: 'work' },
    deployment: {},
    retryDelayMs: 20,
    machineFile: await scriptedMachineFile(),
    ...options,
  });
  return {
    machine,
    stateDir,
    store,
    async play(script, input = {}) {
      const events: MachineEvent[] = [];
      const execution = machine.run({ table: 'db.t', ...input, script });
      execution.onEvent((event) => events.push(event));
      const end = await execution.result;
      const states = events.flatMap((event) => (event.type === 'entered' ? [event.state] : []));
      return { end, states, events };
    },
    async [Symbol.asyncDispose]() {
      await machine.close();
      await store.close();
      if (options.stateDir === undefined) rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
