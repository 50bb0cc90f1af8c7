/** One warm function: loads the bundle that the first argument names and answers one event after another. */
import { flushCompileCache } from 'node:module';
import type { Answer, Call } from './lambda-pool.ts';

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const bundle = process.argv[2] as string;

// The process that started this one is gone: nothing that is done from now on would be known to anybody.
process.on('disconnect', () => process.exit(1));

const loading: Promise<Handler> = import(bundle).then((module: { handler: Handler }) => {
  // A worker may be killed at any time, and the compiled form should outlive the first one.
  flushCompileCache();
  return module.handler;
});
// An event reports the fault; until one comes it is not unhandled.
loading.catch(() => {});

function describe(thrown: unknown): Answer['error'] {
  if (!(thrown instanceof Error)) return { type: 'Error', message: String(thrown), trace: [] };
  return { type: thrown.name, message: thrown.message, trace: (thrown.stack ?? '').split('\n').slice(0, 8) };
}

async function answer(call: Call): Promise<Answer> {
  const context = {
    awsRequestId: call.id,
    functionName: process.env['AWS_LAMBDA_FUNCTION_NAME'],
    memoryLimitInMB: process.env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'],
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => Math.max(0, call.deadlineMs - Date.now()),
  };
  try {
    const handler = await loading;
    const result = await handler(JSON.parse(call.event), context);
    return { id: call.id, result: JSON.stringify(result ?? null) };
  } catch (thrown) {
    return { id: call.id, error: describe(thrown) };
  }
}

process.on('message', (call: Call) => {
  answer(call).then((reply) => process.send?.(reply));
});
