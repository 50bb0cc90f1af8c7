/**
 * Every kind of artefact that a deleting run leaves for a later call, found by a run, in four manners: lost, emptied, cut, and
 * another run's in its place. Where it is needed again the run fails and deletes nothing that it should not; else nothing changes.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { foreignArtefacts, harmedRun, MANNERS, undisturbed } from '#test/support/harmed-run.ts';

/** Kinds, or manners of a kind, that do no harm, with the reason. */
const HARMLESS: Readonly<Record<string, string>> = {
  'plan/receipt.json': 'read by a repeated plan call only',
  'evaluate/evaluation.json': 'read by a repeated evaluation; the record does without it',
  'delete/habits.json lost': 'without them every key is looked at before its delete',
  'delete/N/intent-N.json': 'read by a repeated call of its batch only',
  'delete/N/reply-N.json': 'read by a repeated call of its batch only',
  'delete/N/outcome.json': 'settled anew by looking at the keys',
};
/** The map reads these; an emptied list of batches leaves all of them, and the record says so. */
const DELETES_NOTHING: Readonly<Record<string, string>> = { 'evaluate/batches.jsonl emptied': 'PARTIAL' };

const calm = await undisturbed();
const foreign = await foreignArtefacts();

test('an undisturbed run that hands on at every step deletes every orphan, and leaves every kind of artefact', () => {
  assert.deepEqual([calm.error, calm.verdict, calm.deleted], [undefined, 'DELETED', 2100]);
  const kinds = calm.kinds.map(({ kind }) => kind);
  for (const folder of ['plan', 'scan', 'filters', 'list', 'candidates', 'evaluate', 'delete']) {
    assert.ok(
      kinds.some((kind) => kind.startsWith(`${folder}/`)),
      `none in ${folder}: ${kinds}`,
    );
  }
  assert.ok(kinds.length >= 24, kinds.join(' '));
  for (const name of ['plan', 'scan/N', 'list/N']) assert.ok(kinds.includes(`${name}/progress-*.json`), name);
});

for (const kind of calm.kinds) {
  for (const manner of MANNERS) {
    test(`SM-13 an artefact ${manner}: ${kind.kind}`, async (context) => {
      const harmed = await harmedRun(kind, manner, foreign);
      if (!harmed.wasHarmed) {
        assert.equal(manner, 'foreign');
        context.diagnostic('two runs write the same');
        return;
      }
      const gone = calm.keys.filter((key) => !harmed.keys.includes(key));
      assert.deepEqual(gone, [], 'nothing that the table names is deleted');
      const name = `${kind.kind} ${manner}`;
      if ((HARMLESS[kind.kind] ?? HARMLESS[name]) !== undefined) {
        assert.deepEqual([harmed.error, harmed.verdict], [undefined, 'DELETED']);
        assert.equal(harmed.deleted, calm.deleted);
        assert.deepEqual(harmed.keys, calm.keys);
        return;
      }
      assert.equal(harmed.deleted, 0);
      const refused = harmed.error === 'PlanNotDeletableError' ? 'REFUSED' : 'FAILED';
      assert.equal(harmed.verdict, DELETES_NOTHING[name] ?? refused);
      if (DELETES_NOTHING[name] === undefined) assert.notEqual(harmed.error, undefined);
    });
  }
}
