import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { CfnPolicy } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { AwsSolutionsChecks } from 'cdk-nag';
import { OrphanCleanup, type OrphanCleanupProps } from '#infra/index.ts';
import { FAKE_FUNCTIONS } from './scripted-machine.ts';

function synthesize(
  props: (stack: Stack) => Partial<OrphanCleanupProps>,
  change: (cleanup: OrphanCleanup) => void = () => {},
): void {
  const outdir = mkdtempSync(join(tmpdir(), 'icesweep-nag-'));
  try {
    const app = new App({ outdir, analyticsReporting: false, context: { 'icesweep:functions': FAKE_FUNCTIONS } });
    const stack = new Stack(app, 'Fleet');
    change(new OrphanCleanup(stack, 'Cleanup', { tableLocations: ['s3://lake/warehouse/'], ...props(stack) }));
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    app.synth();
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

test('cdk-nag finds nothing that is not acknowledged with a reason', () => {
  assert.doesNotThrow(() =>
    synthesize(() => ({
      tables: [{ table: 'db.t', schedule: ScheduleExpression.cron({ hour: '3', minute: '0' }), dryRun: false }],
    })),
  );
});

test('nor with a key, a REST catalog and several locations', () => {
  assert.doesNotThrow(() =>
    synthesize((stack) => ({
      encryptionKey: new Key(stack, 'Key', { enableKeyRotation: true }),
      catalogType: 'REST',
      restCatalogUri: 'https://catalog.example.com',
      tableLocations: ['s3://lake-a/x/', 's3://lake-b'],
    })),
  );
});

test('a wildcard that nobody gave a reason for is still found', () => {
  assert.throws(() =>
    synthesize(
      () => ({}),
      (cleanup) => {
        new CfnPolicy(cleanup, 'Wide', {
          policyName: 'wide',
          roles: ['somebody'],
          policyDocument: { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }] },
        });
      },
    ),
  );
});
