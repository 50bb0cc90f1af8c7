/** A fleet on one machine that the command line takes for a deployed one: Step Functions, run table, work bucket, tables. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMachine } from '#infra/local/machine/machine.ts';
import { RUN_TABLE_NAME } from '#infra/local/machine/names.ts';
import type { Machine } from '#infra/local/machine/types.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { type S3Server, startS3Server } from '#infra/local/s3/server.ts';
import { type CliResult, runCli } from './cli-world.ts';
import { STATE_MACHINE, StepFunctions } from './step-functions.ts';
import { TableWriter } from './table-writer.ts';

const DAY_MS = 86_400_000;
const KEYS = { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'secret' } as const;
export const RUN_TABLE = RUN_TABLE_NAME;
export const WORK_BUCKET = 'work';

export class FleetWorld {
  readonly folder: string;
  readonly lake: MemoryBucket;
  readonly store: S3Server;
  readonly machine: Machine;
  readonly states: StepFunctions;

  private constructor(folder: string, lake: MemoryBucket, store: S3Server, machine: Machine, states: StepFunctions) {
    this.folder = folder;
    this.lake = lake;
    this.store = store;
    this.machine = machine;
    this.states = states;
  }

  static async open(): Promise<FleetWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'icesweep-fleet-'));
    const lake = new MemoryBucket();
    const store = await startS3Server({ buckets: { lake, [WORK_BUCKET]: new MemoryBucket() } });
    const machine = await startMachine({
      stateDir: join(folder, 'deployed'),
      tableS3: { endpoint: store.endpoint },
      workS3: { endpoint: store.endpoint, bucket: WORK_BUCKET },
      deployment: { dry_run: true, catalog: { type: 'path' }, defaults: { max_orphan_percent: 95 } },
      environment: KEYS,
      processesPerFunction: 1,
      retryDelayMs: 20,
    });
    return new FleetWorld(folder, lake, store, machine, await StepFunctions.open(machine));
  }

  /** Writes a table whose files, orphans included, are 60 days old. Answers its location. */
  async table(name: string): Promise<{ readonly location: string; readonly writer: TableWriter }> {
    const location = `s3://lake/${name}`;
    const put = (_bucket: string, key: string, bytes: Uint8Array): void =>
      this.lake.seed(key, Buffer.from(bytes), Date.now() - 60 * DAY_MS);
    const writer = new TableWriter({ put }, { location, startMs: Date.now() - 2 * DAY_MS });
    await writer.create();
    await writer.append(4);
    await writer.append(3);
    await writer.plantOrphans();
    return { location, writer };
  }

  /** The command line, which knows the fleet's places by AWS's own variables. */
  run(
    args: readonly string[],
    started?: (child: ChildProcess) => void,
    env: NodeJS.ProcessEnv = {},
  ): Promise<CliResult> {
    return runCli(args, this.folder, {
      env: {
        PATH: process.env['PATH'],
        HOME: this.folder,
        ...KEYS,
        AWS_REGION: 'eu-west-1',
        AWS_ENDPOINT_URL_SFN: this.states.url,
        AWS_ENDPOINT_URL_DYNAMODB: this.machine.itemsEndpoint,
        AWS_ENDPOINT_URL_S3: this.store.endpoint,
        ...env,
      },
      ...(started === undefined ? {} : { started }),
    });
  }

  start(table: string, ...flags: readonly string[]): Promise<CliResult> {
    return this.run(['start', table, '--state-machine', STATE_MACHINE, ...flags]);
  }

  async close(): Promise<void> {
    await this.states.close();
    await this.machine.close();
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
