/** Links to the AWS console, built in one place. */

/** Undefined for executions that are not AWS's. */
export function executionLinks(executionArn: string): Readonly<Record<string, string>> | undefined {
  const [arn, partition, service, region] = executionArn.split(':');
  if (arn !== 'arn' || service !== 'states' || !region || partition === 'icesweep' || region === 'local')
    return undefined;
  const domain =
    partition === 'aws-cn' ? 'amazonaws.cn' : partition === 'aws-us-gov' ? 'amazonaws-us-gov.com' : 'aws.amazon.com';
  const host = partition === 'aws' ? `${region}.console.${domain}` : `console.${domain}`;
  return { execution: `https://${host}/states/home?region=${region}#/v2/executions/details/${executionArn}` };
}
