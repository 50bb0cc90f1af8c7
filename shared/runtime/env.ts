/**
 * The environment of every function, as one typed contract: CDK writes it, the handler reads it. Nothing else in the product
 * reads environment variables.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { MisconfiguredError } from '#shared/errors.ts';
import { type DeploymentSettings, parseDeployment } from '#shared/run/deployment.ts';
import type { Credentials } from './aws-json-call.ts';

export const FUNCTION_NAMES = [
  'plan',
  'scan',
  'build',
  'list',
  'evaluate',
  'recheck',
  'delete',
  'record',
  'watch',
] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

/** An empty value counts as absent: CloudFormation and shells write one easily. */
const optional = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value));
const required = z.string().min(1);

const common = {
  WORK_BUCKET: required,
  RUN_TABLE: required,
  RUN_STATUS_INDEX: required,
  /** The deployment's settings: JSON, or `file:` and the path of a file with it. */
  DEPLOYMENT: required,
  AWS_REGION: z.string().min(1).default('us-east-1'),
  /** One-machine runtime and S3-compatible stores: where the tables lie, where the work bucket lies. */
  TABLE_S3_ENDPOINT: optional,
  WORK_S3_ENDPOINT: optional,
  /** The key id that the one-machine runtime's embedded store answers to; no secret belongs to it. */
  WORK_S3_ACCESS_KEY_ID: optional,
  /** Whether the tables' buckets are named in the path; where it is left out, they are for every endpoint but AWS's. */
  S3_PATH_STYLE: z.enum(['true', 'false']).optional(),
  /** `sdk` reads listings with the SDK's own parser instead of the strict one. */
  LIST_PARSER: z.enum(['strict', 'sdk']).default('strict'),
  DYNAMODB_ENDPOINT: optional,
  STEP_FUNCTIONS_ENDPOINT: optional,
  /** The one-machine runtime reads secrets from its own environment. */
  SECRETS_FROM_ENVIRONMENT: optional,
};

const schemas = {
  /** EVENT_BUS: name or ARN of the bus that run events go to. */
  plan: z.object({ ...common, EVENT_BUS: optional }),
  scan: z.object(common),
  build: z.object(common),
  list: z.object(common),
  evaluate: z.object(common),
  recheck: z.object(common),
  /** DELETE_ROLE_ARN: the role that is assumed with a session policy narrowed to the plan's roots. */
  delete: z.object({ ...common, DELETE_ROLE_ARN: optional }),
  record: z.object({ ...common, EVENT_BUS: optional }),
  watch: z.object(common),
} satisfies Record<FunctionName, z.ZodType>;

/** What a function reads. */
export type FunctionEnv<Name extends FunctionName> = z.output<(typeof schemas)[Name]>;

/** What CDK and the one-machine runtime set; AWS_REGION is Lambda's own. */
export type FunctionEnvInput<Name extends FunctionName> = Omit<z.input<(typeof schemas)[Name]>, 'AWS_REGION'>;

/** All variables of all functions, for the adapters, which look at what is there. */
export type AnyFunctionEnv = FunctionEnv<'plan'> & {
  readonly DELETE_ROLE_ARN?: string | undefined;
  readonly EVENT_BUS?: string | undefined;
};

/** Reads a function's environment. Throws MisconfiguredError, naming every variable that is missing or wrong. */
export function readEnv<Name extends FunctionName>(
  name: Name,
  source: Readonly<Record<string, string | undefined>> = process.env,
): FunctionEnv<Name> {
  const parsed = schemas[name].safeParse(source);
  if (parsed.success) return parsed.data as FunctionEnv<Name>;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new MisconfiguredError(`The environment of function ${name} is not valid: ${faults.join('; ')}.`, {
    next: 'Deploy the stack again; variables are not set by hand.',
  });
}

/** The credentials that Lambda gives a function, which it renews. Throws MisconfiguredError where there are none. */
export function lambdaCredentials(source: Readonly<Record<string, string | undefined>> = process.env): Credentials {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = source;
  if (!accessKeyId || !secretAccessKey) throw new MisconfiguredError('The function has no credentials.');
  return { accessKeyId, secretAccessKey, ...(token ? { sessionToken: token } : {}) };
}

/** Reads the deployment's settings from where DEPLOYMENT says they are. */
export function readDeployment(value: string): DeploymentSettings {
  const text = value.startsWith('file:') ? readFileSync(value.slice('file:'.length), 'utf8') : value;
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch (error) {
    throw new MisconfiguredError('The deployment settings are not JSON.', { cause: error, next: 'Deploy again.' });
  }
  return parseDeployment(settings);
}

/** A secret of the one-machine runtime: `env:NAME` or `NAME`. Throws MisconfiguredError where it is not set. */
export function secretFromEnvironment(name: string): string {
  const variable = name.startsWith('env:') ? name.slice('env:'.length) : name;
  const value = process.env[variable];
  if (value !== undefined && value !== '') return value;
  throw new MisconfiguredError(`The environment variable ${variable} is not set.`, {
    next: 'It holds the secret of the catalog.',
  });
}
