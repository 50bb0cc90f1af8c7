import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Progress } from '#infra/local/cli/progress.ts';
import { FakeTerminal } from '#test/support/fake-terminal.ts';

function follow(live: boolean, options: { width?: number; quiet?: boolean } = {}) {
  const terminal = new FakeTerminal({ live, width: options.width ?? 80 });
  const clock = { ms: 0, tick: () => {} };
  const progress = new Progress(terminal, {
    quiet: options.quiet ?? false,
    now: () => clock.ms,
    every: (_ms, tick) => {
      clock.tick = tick;
      return () => {};
    },
  });
  return { terminal, progress, clock };
}

describe('progress', () => {
  test('on a terminal redraws one line with counts, rate and time left, and leaves the stage behind', () => {
    const { terminal, progress, clock } = follow(true);

    progress.enter('ScanManifests');
    clock.ms = 2000;
    progress.count('ScanManifests', 4, 10);
    clock.ms = 5000;
    progress.count('ScanManifests', 10, 10);
    progress.leave('ScanManifests');

    assert.ok(terminal.errText.includes('\r\u001b[Kscan     [########............] 4/10 scan shards, 2.0/s, 3 s left'));
    assert.ok(terminal.errText.endsWith('\r\u001b[Kscan     10 scan shards, 5 s\n'));
  });

  test('a deletion is told in files, whatever the batches hold', () => {
    const { terminal, progress, clock } = follow(true);

    progress.enter('DeleteOrphans');
    clock.ms = 2000;
    progress.countFiles([1000, 1000, 50], 1, 1);
    clock.ms = 4000;
    progress.countFiles([1000, 1000, 50], 3, 0);
    progress.close();

    assert.match(terminal.errText, /delete {3}\[#########\.*\] 1,000\/2,050 files, failed batches: 1, 500\/s/);
    assert.match(terminal.errText, /delete {3}2,050 files, 4 s\n$/);
  });

  test('never fills a narrow terminal to its edge', () => {
    const { terminal, progress, clock } = follow(true, { width: 30 });

    progress.enter('DeleteOrphans');
    clock.ms = 3000;
    progress.count('DeleteOrphans', 12_345, 200_000, 3);

    for (const drawn of terminal.errText.split('\r\u001b[K')) assert.ok([...drawn.trimEnd()].length < 30, drawn);
  });

  test('elsewhere writes a plain line every 10 seconds', () => {
    const { terminal, progress, clock } = follow(false);

    progress.enter('ListStorage');
    for (clock.ms = 0; clock.ms <= 25_000; clock.ms += 100) {
      progress.count('ListStorage', Math.floor(clock.ms / 1000), 100);
      clock.tick();
    }
    progress.close();

    assert.deepEqual(terminal.errText.split('\n').filter(Boolean), [
      'list     10/100 listing shards, 1.0/s, 1 min 30 s left',
      'list     20/100 listing shards, 1.0/s, 1 min 20 s left',
    ]);
    assert.ok(!terminal.errText.includes('\u001b'));
  });

  test('is silent when asked to be', () => {
    const { terminal, progress } = follow(true, { quiet: true });

    progress.enter('PlanRun');
    progress.count('ScanManifests', 1, 2);
    progress.close();

    assert.equal(terminal.errText, '');
  });

  test('what is said in between does not run into the redrawn line', () => {
    const { terminal, progress, clock } = follow(true);
    progress.enter('PlanRun');
    clock.ms = 1000;
    clock.tick();

    progress.say('Stopping.');

    assert.ok(terminal.errText.endsWith('\r\u001b[KStopping.\n'));
  });
});
