/** Asks Step Functions whether an execution still runs, for the take-over of a lease. */
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import type { ExecutionDirectory, ExecutionStatus } from './stage-ports.ts';

/** The one-machine runtime's own servers ask for a signature and check none: the person's keys have no business there. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

/**
 * The directory of executions. An execution that Step Functions does not know has ended (its history is kept for 90 days,
 * longer than any run). Whatever else goes wrong answers `unknown`, which takes no lease from anybody.
 */
export function openExecutionDirectory(options: { region: string; endpoint: string | undefined }): ExecutionDirectory {
  const client = new SFNClient({
    region: options.region,
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint, credentials: LOCAL_CREDENTIALS }),
  });
  return {
    async status(id: string): Promise<ExecutionStatus> {
      try {
        const found = await client.send(new DescribeExecutionCommand({ executionArn: id }));
        if (found.status === undefined) return 'unknown';
        return found.status === 'RUNNING' || found.status === 'PENDING_REDRIVE' ? 'running' : 'ended';
      } catch (error) {
        return error instanceof Error && error.name === 'ExecutionDoesNotExist' ? 'ended' : 'unknown';
      }
    },
  };
}
