/** Names that stand for AWS's on one machine. */
const ACCOUNT = '000000000000';
const REGION = 'local';

export const RUN_TABLE_NAME = 'icesweep-runs';
/** Stands in a kept definition for the work bucket, whose name is known only when a machine starts. */
export const WORK_BUCKET_PLACEHOLDER = '<work-bucket>';
export const STATE_MACHINE_NAME = 'icesweep';
export const STATE_MACHINE_ARN = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${STATE_MACHINE_NAME}`;

export function executionArn(name: string): string {
  return `arn:aws:states:${REGION}:${ACCOUNT}:execution:${STATE_MACHINE_NAME}:${name}`;
}

export function childExecutionArn(map: string, name: string): string {
  return `arn:aws:states:${REGION}:${ACCOUNT}:execution:${STATE_MACHINE_NAME}/${map}:${name}`;
}

export function mapRunArn(map: string, run: string): string {
  return `arn:aws:states:${REGION}:${ACCOUNT}:mapRun:${STATE_MACHINE_NAME}/${map}:${run}`;
}

export function functionArn(name: string): string {
  return `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`;
}

/** What the pseudo parameters of a template stand for. */
export const PSEUDO_PARAMETERS: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::Region': REGION,
  'AWS::AccountId': ACCOUNT,
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': STATE_MACHINE_NAME,
};

/** Step Functions' rule for names, with CloudWatch's: letters, digits, `-` and `_`, 80 at most. */
export function isExecutionName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,80}$/.test(name);
}
