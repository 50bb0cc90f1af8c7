/** The app of the checkout, as `npm run synth` and the CDK command line start it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { PROJECT } from '#test/support/cli-world.ts';
import { readDocument } from '#test/support/readme.ts';
import { FAKE_FUNCTIONS } from './scripted-machine.ts';

interface Synthesis {
  readonly code: number | null;
  readonly err: string;
  /** Messages that keep the CDK command line from deploying. */
  readonly errors: readonly string[];
}

function synthesize(t: TestContext, changes: Readonly<Record<string, string>> = {}): Synthesis {
  const outdir = mkdtempSync(join(tmpdir(), 'icesweep-app-'));
  t.after(() => rmSync(outdir, { recursive: true, force: true }));
  const { context } = JSON.parse(readFileSync(join(PROJECT, 'cdk.json'), 'utf8')) as { context: object };
  const asked = JSON.stringify({ ...context, 'icesweep:functions': FAKE_FUNCTIONS, ...changes });
  const env = { ...process.env, CDK_CONTEXT_JSON: asked, CDK_OUTDIR: outdir };
  const { status, stderr } = spawnSync(process.execPath, [join(PROJECT, 'infra', 'app.ts')], { env, encoding: 'utf8' });
  if (status !== 0) return { code: status, err: stderr, errors: [] };
  const manifest = readFileSync(join(outdir, 'Icesweep.metadata.json'), 'utf8');
  const entries = Object.values(JSON.parse(manifest) as Record<string, { type: string; data: string }[]>).flat();
  const errors = entries.filter(({ type }) => type === 'aws:cdk:error').map(({ data }) => data);
  return { code: status, err: stderr, errors };
}

test('out of the box the app synthesizes, says what to set, and cannot be deployed with the placeholder', (t) => {
  const { code, err, errors } = synthesize(t);

  assert.equal(code, 0, err);
  assert.match(err, /tableLocations is still the placeholder .* set it in cdk\.json, or with -c/);
  assert.equal(errors.length, 1);
  assert.match(errors[0] as string, /cannot be deployed/);
});

test('nor with the placeholder among others', (t) => {
  const { errors } = synthesize(t, { 'icesweep:tableLocations': 's3://lake/wh/,s3://example-lake/warehouse/' });

  assert.equal(errors.length, 1);
});

test('with locations of its own it says nothing', (t) => {
  const { code, err, errors } = synthesize(t, { 'icesweep:tableLocations': 's3://lake/wh/,s3://other/' });

  assert.deepEqual({ code, err, errors }, { code: 0, err: '', errors: [] });
});

test('a setting that is mistyped, or neither true nor false, deploys nothing', (t) => {
  const locations = { 'icesweep:tableLocations': 's3://lake/wh/' };
  const unknown = synthesize(t, { ...locations, 'icesweep:dryrunOnly': 'true' });
  const vague = synthesize(t, { ...locations, 'icesweep:dryRunOnly': 'yes' });

  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /icesweep:dryrunOnly: no such setting\. The settings are .*dryRunOnly/);
  assert.equal(vague.code, 1);
  assert.match(vague.err, /icesweep:dryRunOnly is true or false, not yes/);
});

test('the README names the settings, all of them', (t) => {
  const { err } = synthesize(t, { 'icesweep:x': 'y' });
  const known = /The settings are ([\w, ]+)\./.exec(err)?.[1]?.split(', ') ?? [];
  const [told = ''] = /The settings of the app are[^.]*\.json[^.]*\./.exec(readDocument('README.md')) ?? [];
  const named = [...told.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);

  assert.ok(known.length > 5);
  assert.deepEqual(named.filter((name) => !/^[A-Z]+$/.test(name)).sort(), known.sort());
});

test('a tables file that is not there, and locations that are none, end with the reason', (t) => {
  const missing = synthesize(t, { 'icesweep:tablesFile': 'nowhere.json' });
  const none = synthesize(t, { 'icesweep:tableLocations': '' });

  assert.equal(missing.code, 1);
  assert.match(missing.err, /nowhere\.json cannot be read/);
  assert.equal(none.code, 1);
  assert.match(none.err, /tableLocations is empty/);
});
