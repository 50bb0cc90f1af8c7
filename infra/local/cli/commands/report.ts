/** `icesweep report` and `icesweep runs`: what was found and done, in text, JSON or as pages. */
import { writeFileSync } from 'node:fs';
import { InvalidInputError } from '#shared/errors.ts';
import { printable } from '#shared/report/format.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { type CommandContext, operandOf, textOf } from '../context.ts';
import { renderFleetPage } from '../fleet-page.ts';
import { withHistory } from '../local-runtime.ts';
import type { RunHistory } from '../runtime.ts';
import { showRun } from '../show.ts';
import { runsText } from '../text/runs-text.ts';

const DEFAULT_RUNS = 50;
/** Enough for the trend of many tables on the fleet's page. */
const FLEET_RUNS = 5000;

function noRun(runId: string, context: CommandContext): InvalidInputError {
  const place = textOf(context, 'run-table');
  return new InvalidInputError(
    `There is no run ${JSON.stringify(runId)}${place === undefined ? '' : ` in the run table ${place}`}.`,
    {
      next: `icesweep runs lists them; ${place === undefined ? '--state DIR' : 'another --run-table'} looks elsewhere.`,
    },
  );
}

function writePage(file: string, page: string | Uint8Array, context: CommandContext): void {
  try {
    writeFileSync(file, page);
  } catch (error) {
    throw new InvalidInputError(`--html ${file} cannot be written: ${(error as Error).message}.`, { cause: error });
  }
  context.terminal.err(`Wrote ${file}\n`);
}

async function writeReport(runId: string, file: string, history: RunHistory, context: CommandContext): Promise<void> {
  const run = await history.find(runId);
  if (run === undefined) throw noRun(runId, context);
  const page = await history.artefacts(run.artefacts).read(artefact.report);
  if (page === undefined)
    throw new InvalidInputError(`The run ${runId} has no page: it ended as ${run.verdict} before one was made.`);
  writePage(file, page, context);
}

export function report(context: CommandContext): Promise<number> {
  const runId = operandOf(context, 0);
  const file = textOf(context, 'html');
  return withHistory(context, async (history) => {
    if (file !== undefined) {
      await writeReport(runId, file, history, context);
      return 0;
    }
    const run = await history.find(runId);
    if (run === undefined) throw noRun(runId, context);
    await showRun(run, history, context);
    // Showing a failed run is no failure.
    return 0;
  });
}

function limitOf(context: CommandContext, otherwise: number): number {
  const limit = (context.parsed.values.get('limit') as number | undefined) ?? otherwise;
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new InvalidInputError(`--limit is a whole number from 1, not ${limit}.`);
}

export function runs(context: CommandContext): Promise<number> {
  const table = context.parsed.operands[0];
  const file = textOf(context, 'html');
  const limit = limitOf(context, file === undefined ? DEFAULT_RUNS : FLEET_RUNS);
  return withHistory(context, async (history) => {
    const records = await history.list(table, limit);
    if (file !== undefined) writePage(file, renderFleetPage(records), context);
    else if (context.output === 'json') await context.terminal.out(`${JSON.stringify(records, undefined, 2)}\n`);
    else if (context.output === 'jsonl')
      await context.terminal.out(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    else if (records.length === 0 && table !== undefined)
      await context.terminal.out(`No runs of ${printable(table)} yet; icesweep runs lists those of all tables.\n`);
    else await context.terminal.out(`${runsText(records, context.terminal.outColumns())}\n`);
    return 0;
  });
}
