import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { takeProcessLock } from '#infra/local/state/process-lock.ts';
import { isProcessAlive } from '#infra/local/state/processes.ts';

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

  test('replaces a killed holder that nobody waited for', { skip: process.platform !== 'linux' }, async (t) => {
    // The shell becomes a program that never waits for the child that it had before.
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => parent.kill('SIGKILL'));
    const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
    const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8');
    while (!stat().includes(') Z ')) await new Promise((resolve) => setTimeout(resolve, 10));
    const ticks = stat()
      .slice(stat().lastIndexOf(')') + 2)
      .split(' ')[19];
    writeFileSync(lockFile(), holder({ pid, started_ticks: ticks }));

    takeProcessLock(folder, 'icesweep plan t').release();
    assert.equal(isProcessAlive(pid, ''), false);
  });

  test('a folder that cannot be made is named, with what to do', () => {
    writeFileSync(join(folder, 'file'), '');

    assert.throws(
      () => takeProcessLock(join(folder, 'file'), 'icesweep plan t'),
      (error: Error) => error.name === 'MisconfiguredError' && error.message.includes('--state DIR'),
    );
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
