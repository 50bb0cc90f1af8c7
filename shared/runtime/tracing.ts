/** X-Ray segments around a stage, where the function runs with active tracing. */
import { Tracer } from '@aws-lambda-powertools/tracer';

export type Trace = <Result>(stage: string, work: () => Promise<Result>) => Promise<Result>;

/** Outside of Lambda there is no daemon to send segments to, so nothing is traced and nothing loaded for it. */
export function openTracer(): Trace {
  const tracer = new Tracer();
  if (!tracer.isTracingEnabled()) return (_stage, work) => work();
  return <Result>(stage: string, work: () => Promise<Result>) =>
    tracer.provider.captureAsyncFunc(`## ${stage}`, async (segment) => {
      try {
        return await work();
      } catch (error) {
        segment?.addError(error as Error);
        throw error;
      } finally {
        segment?.close();
      }
    }) as Promise<Result>;
}
