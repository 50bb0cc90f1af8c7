/**
 * Stages that only play their part: what each answers is told by the `script` of the execution's input. They leave what a
 * worker must leave in the work bucket, so that the machine under test reads its items and writes its results there.
 */
export interface Script {
  readonly outcome?: 'SKIPPED' | 'PLANNED' | 'SEALED_PLAN';
  readonly planRounds?: number;
  readonly deleting?: boolean;
  readonly items?: number;
  readonly verdict?: 'NOTHING_TO_DO' | 'DRY_RUN' | 'REFUSED' | 'DELETE' | 'SURPRISE';
  readonly fail?: { readonly stage: string; readonly item?: number; readonly name: string; readonly times?: number };
  readonly rounds?: number;
  readonly concurrency?: number;
  readonly waitSeconds?: number;
  readonly hang?: string;
  readonly eat?: 'heap' | 'buffers';
  readonly padding?: number;
}

const attempts = new Map<string, number>();

export async function play(script: Script, stage: string, item?: number): Promise<void> {
  if (script.hang === stage) await new Promise(() => setInterval(() => {}, 1000));
  const { fail } = script;
  if (fail === undefined || fail.stage !== stage || (fail.item !== undefined && fail.item !== item)) return;
  const key = `${stage}-${item}`;
  const seen = (attempts.get(key) ?? 0) + 1;
  attempts.set(key, seen);
  if (seen > (fail.times ?? Number.POSITIVE_INFINITY)) return;
  const error = new Error(`${stage} fails as told`);
  error.name = fail.name;
  throw error;
}

export async function putWork(key: string, body: string): Promise<void> {
  const url = `${process.env['WORK_S3_ENDPOINT']}/${process.env['WORK_BUCKET']}/${key}`;
  const reply = await fetch(url, { method: 'PUT', body });
  if (!reply.ok) throw new Error(`PUT ${key}: ${reply.status}`);
}
