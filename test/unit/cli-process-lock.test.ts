import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { takeProcessLock } from '#infra/local/state/process-lock.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'icesweep-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lockFile = () => join(folder, 'lock');
const holder = (changes: object) =>
  JSON.stringify({
    pid: process.pid,
    host: hostname(),
    started_ticks: null,
    command: 'icesweep plan t',
    since: '2026-01-01',
    ...changes,
  });

describe('the lock of a state folder', () => {
  test('tells a second process which one holds it', () => {
    const lock = takeProcessLock(folder, 'icesweep run t');

    assert.throws(
      () => takeProcessLock(folder, 'icesweep plan u'),
      (error: Error) =>
        error.name === 'RunInProgressError' && error.message.includes(`process ${process.pid} (icesweep run t`),
    );

    lock.release();
    assert.equal(existsSync(lockFile()), false);
    takeProcessLock(folder, 'icesweep plan u').release();
  });

  test('replaces a holder that no longer lives', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => child.on('exit', resolve));
    writeFileSync(lockFile(), holder({ pid: child.pid }));

    const lock = takeProcessLock(folder, 'icesweep plan t');

    assert.equal(JSON.parse(readFileSync(lockFile(), 'utf8')).pid, process.pid);
    lock.release();
  });

  test('replaces a holder whose pid another process has now', () => {
    writeFileSync(lockFile(), holder({ started_ticks: '1' }));

    takeProcessLock(folder, 'icesweep plan t').release();
  });

  test('replaces an unreadable lock, as a crash of the disk may leave one', () => {
    writeFileSync(lockFile(), '');

    takeProcessLock(folder, 'icesweep plan t').release();
  });

  test('never replaces a holder on another machine', () => {
    writeFileSync(lockFile(), holder({ pid: 999999, host: 'another-machine' }));

    assert.throws(() => takeProcessLock(folder, 'icesweep plan t'), /on another-machine/);
  });

  test('is not given back by a process that lost it', () => {
    const lock = takeProcessLock(folder, 'icesweep plan t');
    writeFileSync(lockFile(), holder({ pid: 1 }));

    lock.release();

    assert.equal(existsSync(lockFile()), true);
  });
});
