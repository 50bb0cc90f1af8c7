/** cfn-lint over whole assemblies, where it is installed: what CloudFormation itself would say of the templates. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { App, Stack, Tags } from 'aws-cdk-lib';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { OrphanCleanup, type OrphanCleanupProps } from '#infra/index.ts';
import { FAKE_FUNCTIONS } from './scripted-machine.ts';
import { LOCATION } from './synthesized.ts';

/** W3005: CDK says of a function and a machine that they depend on a role which they name anyway. */
const OF_CDK = 'W3005';

/** Older ones do not know what CDK writes by now, such as the tags of rules. */
const LEAST = [1, 58] as const;

function reasonToSkip(): string | false {
  const { status, stdout } = spawnSync('cfn-lint', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return 'cfn-lint is not on the PATH';
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number);
  const isOld = major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1]);
  return isOld && `${stdout.trim()} is older than ${LEAST.join('.')}`;
}

const skip = reasonToSkip();

function lint(props: (stack: Stack) => Partial<OrphanCleanupProps>): { status: number | null; out: string } {
  const outdir = mkdtempSync(join(tmpdir(), 'icesweep-lint-'));
  try {
    const app = new App({ outdir, analyticsReporting: false, context: { 'icesweep:functions': FAKE_FUNCTIONS } });
    const stack = new Stack(app, 'Fleet');
    new OrphanCleanup(stack, 'Cleanup', { tableLocations: [LOCATION], ...props(stack) });
    app.synth();
    const templates = readdirSync(outdir).filter((name) => name.endsWith('template.json'));
    const files = templates.map((name) => join(outdir, name));
    const { status, stdout, stderr } = spawnSync('cfn-lint', ['--ignore-checks', OF_CDK, '--', ...files], {
      encoding: 'utf8',
    });
    return { status, out: stdout + stderr };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

const schedule = ScheduleExpression.cron({ hour: '3', minute: '0' });

test('cfn-lint finds nothing in a deployment with scheduled tables', { skip }, () => {
  const tables = ['db.a', 'db.b'].map((table) => ({ table, schedule, dryRun: false }));

  assert.deepEqual(
    lint(() => ({ tables })),
    { status: 0, out: '' },
  );
});

test('nor in one with everything that a team may bring', { skip }, () => {
  const brought = lint((stack) => {
    Tags.of(stack).add('cost-center', '42');
    return {
      alarmTopic: new Topic(stack, 'Topic'),
      catalogType: 'REST',
      encryptionKey: new Key(stack, 'Key', { enableKeyRotation: true }),
      eventBus: new EventBus(stack, 'Bus'),
      permissionsBoundary: ManagedPolicy.fromAwsManagedPolicyName('PowerUserAccess'),
      restCatalogSecret: new Secret(stack, 'Token'),
      restCatalogUri: 'https://catalog.example.com',
      tables: [{ table: 'db.a', schedule, dryRun: false }],
      vpc: new Vpc(stack, 'Network', { maxAzs: 2 }),
    };
  });

  assert.deepEqual(brought, { status: 0, out: '' });
});
