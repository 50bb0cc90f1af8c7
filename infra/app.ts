/**
 * The app: one stack with one fleet, set up by the context of `cdk.json` (or `-c name=value`) and a tables file. A team with
 * a stack of its own adds `OrphanCleanup` there instead.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Annotations, App, type AppProps, Duration, Stack, Tags, Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { PROJECT_DIR } from './bundles.ts';
import { type CatalogType, OrphanCleanup } from './index.ts';
import { readTablesFile } from './tables-file.ts';

/** What `cdk.json` says before anybody has set it. */
const PLACEHOLDER = 's3://example-lake/warehouse/';

/** The CDK command line passes the context and the folder on; `npm run synth` has no such help. */
function appProps(): AppProps {
  if (process.env['CDK_CONTEXT_JSON'] !== undefined) return { analyticsReporting: false };
  const { context } = JSON.parse(readFileSync(join(PROJECT_DIR, 'cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  return { analyticsReporting: false, context, outdir: process.env['CDK_OUTDIR'] ?? join(PROJECT_DIR, 'cdk.out') };
}

const app = new App(appProps());

const SETTINGS = [
  'tableLocations',
  'bucketsOfOtherAccounts',
  'tablesFile',
  'catalogType',
  'restCatalogUri',
  'olderThanDays',
  'alarmTopicArn',
  'dryRunByDefault',
  'dryRunOnly',
  'stackName',
  // Other bundles, for tests.
  'functions',
] as const;
type Setting = (typeof SETTINGS)[number];

/** A mistyped `dryRunOnly` must not deploy a fleet that may delete. */
function refuseUnknownSettings(): void {
  const given = Object.keys(app.node.getAllContext()).filter((name) => name.startsWith('icesweep:'));
  const known: readonly string[] = SETTINGS.map((name) => `icesweep:${name}`);
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`${unknown.join(', ')}: no such setting. The settings are ${SETTINGS.slice(0, -1).join(', ')}.`);
  }
}

/** A setting from the context; from the command line every value is text. */
function setting(name: Setting): string | undefined {
  const value: unknown = app.node.tryGetContext(`icesweep:${name}`);
  return value === undefined || value === '' ? undefined : String(value);
}

/** cdk-nag is no part of the package: where it is installed, the app is checked with it. */
async function checkWithNag(): Promise<void> {
  const nag = await import('cdk-nag').catch(() => undefined);
  if (nag !== undefined) Validations.of(app).addPlugins(new nag.AwsSolutionsChecks(app));
}

function tablesFile(): string | undefined {
  const named = setting('tablesFile');
  if (named !== undefined) return named;
  const beside = join(PROJECT_DIR, 'tables.json');
  return existsSync(beside) ? beside : undefined;
}

function flag(name: Setting, otherwise: boolean): boolean {
  const text = setting(name) ?? String(otherwise);
  if (text !== 'true' && text !== 'false') throw new Error(`icesweep:${name} is true or false, not ${text}.`);
  return text === 'true';
}

/** A setting of several names, separated by commas. */
function namesIn(name: Setting): string[] {
  return (setting(name) ?? '').split(',').filter((text) => text !== '');
}

/** Synthesis shows what would be deployed; an error of this kind keeps the CDK command line from deploying it. */
function refusePlaceholder(stack: Stack): void {
  if (!namesIn('tableLocations').includes(PLACEHOLDER)) return;
  const message =
    `icesweep:tableLocations is still the placeholder ${PLACEHOLDER}, so this cannot be deployed: ` +
    'set it in cdk.json, or with -c icesweep:tableLocations=s3://…/, to the prefixes under which your tables lie.';
  Annotations.of(stack).addError(message);
  process.stderr.write(`${message}\n`);
}

function build(): void {
  const account = process.env['CDK_DEFAULT_ACCOUNT'];
  const region = process.env['CDK_DEFAULT_REGION'];
  const stack = new Stack(app, setting('stackName') ?? 'Icesweep', {
    description: 'Finds and deletes orphan files of Apache Iceberg tables.',
    ...(account === undefined || region === undefined ? {} : { env: { account, region } }),
  });
  refusePlaceholder(stack);
  const file = tablesFile();
  const topicArn = setting('alarmTopicArn');
  const olderThanDays = setting('olderThanDays');
  const restCatalogUri = setting('restCatalogUri');
  new OrphanCleanup(stack, 'OrphanCleanup', {
    tableLocations: namesIn('tableLocations'),
    bucketsOfOtherAccounts: namesIn('bucketsOfOtherAccounts'),
    tables: file === undefined ? [] : readTablesFile(file),
    catalogType: (setting('catalogType') ?? 'GLUE') as CatalogType,
    dryRunByDefault: flag('dryRunByDefault', true),
    dryRunOnly: flag('dryRunOnly', false),
    ...(restCatalogUri === undefined ? {} : { restCatalogUri }),
    ...(olderThanDays === undefined ? {} : { olderThan: Duration.days(Number(olderThanDays)) }),
    ...(topicArn === undefined ? {} : { alarmTopic: Topic.fromTopicArn(stack, 'AlarmTopic', topicArn) }),
  });
  Tags.of(stack).add('application', 'icesweep');
}

await checkWithNag();
refuseUnknownSettings();
build();
app.synth();
