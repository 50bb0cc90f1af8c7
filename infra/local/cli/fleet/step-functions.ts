/** The calls of Step Functions that `icesweep start` makes. */
import {
  DescribeExecutionCommand,
  type DescribeExecutionCommandOutput,
  DescribeMapRunCommand,
  ExecutionAlreadyExists,
  GetExecutionHistoryCommand,
  ListMapRunsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { AccessDeniedError, InvalidInputError, ServiceUnavailableError } from '#shared/errors.ts';
import type { Progress } from '../progress.ts';
import { nameFaultsOf } from './service-faults.ts';

const STATE_MACHINE_ARN = /^arn:[a-z-]+:states:([a-z0-9-]+):\d{12}:stateMachine:([^:\s]+)(?::[^:\s]+)?$/;

/** A deployed state machine; `region` is the one that its ARN names. */
export class StateMachine {
  readonly arn: string;
  readonly region: string;
  readonly #client: SFNClient;
  #deniedSaid = false;

  /** @throws InvalidInputError an ARN that is none of a state machine */
  constructor(arn: string, settings: { readonly profile?: string } = {}) {
    const region = STATE_MACHINE_ARN.exec(arn)?.[1];
    if (region === undefined) {
      throw new InvalidInputError(`--state-machine ${JSON.stringify(arn)} is no ARN of a state machine.`, {
        next: 'It begins with arn:aws:states: and the deployment prints it as an output.',
      });
    }
    this.arn = arn;
    this.region = region;
    this.#client = nameFaultsOf(new SFNClient({ ...settings, region }), {
      service: 'Step Functions',
      prefix: 'states',
      resource: `state machine ${arn}`,
      absent: [
        'StateMachineDoesNotExist',
        'StateMachineDeleting',
        'InvalidArn',
        'ExecutionDoesNotExist',
        'ValidationException',
      ],
      check: 'Check --state-machine and --profile: the account in the ARN must be the one of your credentials.',
      passed: ['ExecutionAlreadyExists', 'AbortError'],
    });
  }

  /**
   * Starts an execution and answers its ARN. Where a reply was lost and the repeated call finds the name in use, the execution
   * with this name and input is the one that the first call started.
   */
  async start(name: string, input: string): Promise<string> {
    try {
      const command = new StartExecutionCommand({ stateMachineArn: this.arn, name, input });
      return (await this.#client.send(command)).executionArn as string;
    } catch (error) {
      if (error instanceof ExecutionAlreadyExists) return this.#startedBefore(name, input, error);
      if (!(error instanceof ServiceUnavailableError)) throw error;
      throw new ServiceUnavailableError(`${error.message} Whether it took the start is not known.`, {
        cause: error,
        next: `Look for the execution ${name} before starting again.`,
      });
    }
  }

  async #startedBefore(name: string, input: string, error: Error): Promise<string> {
    const parts = this.arn.split(':');
    const arn = [...parts.slice(0, 5), 'execution', parts[6], name].join(':');
    const standing = await this.describe(arn);
    if (standing.input === input) return arn;
    throw new InvalidInputError(`The execution name ${name} is taken by another run.`, {
      cause: error,
      next: 'Start again.',
    });
  }

  describe(executionArn: string, abortSignal?: AbortSignal): Promise<DescribeExecutionCommandOutput> {
    const command = new DescribeExecutionCommand({ executionArn });
    return this.#client.send(command, abortSignal === undefined ? {} : { abortSignal });
  }

  /** The state entered last, and the counts of the map that runs. A role that may not see them is told once, and follows on. */
  async showProgress(executionArn: string, progress: Progress, abortSignal: AbortSignal): Promise<void> {
    if (this.#deniedSaid) return;
    try {
      await this.#showProgress(executionArn, progress, abortSignal);
    } catch (error) {
      if (!(error instanceof AccessDeniedError)) return;
      this.#deniedSaid = true;
      progress.say(`No progress is shown: ${error.message}`);
    }
  }

  async #showProgress(executionArn: string, progress: Progress, abortSignal: AbortSignal): Promise<void> {
    const latest = new GetExecutionHistoryCommand({ executionArn, reverseOrder: true, maxResults: 20 });
    const { events } = await this.#client.send(latest, { abortSignal });
    const state = events?.find((event) => event.stateEnteredEventDetails?.name !== undefined)?.stateEnteredEventDetails
      ?.name;
    if (state === undefined) return;
    progress.enter(state);
    const runs = await this.#client.send(new ListMapRunsCommand({ executionArn, maxResults: 10 }), { abortSignal });
    // `…:mapRun:<machine>/<label>:<id>`, and the label is the state's name.
    const open = runs.mapRuns?.find((run) => run.stopDate === undefined && run.mapRunArn?.includes(`/${state}:`));
    if (open?.mapRunArn === undefined) return;
    const { itemCounts } = await this.#client.send(new DescribeMapRunCommand({ mapRunArn: open.mapRunArn }), {
      abortSignal,
    });
    if (itemCounts === undefined) return;
    const { succeeded = 0, failed = 0, aborted = 0, total = 0 } = itemCounts;
    progress.count(state, succeeded + failed + aborted, total, failed);
  }
}
