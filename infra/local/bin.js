#!/usr/bin/env node
// Starts the command line. This file alone must run on the host's Node (20 or newer): the rest needs Node 24, which the
// install brings along where a package of it exists for the platform.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED_MAJOR = 24;
const here = dirname(fileURLToPath(import.meta.url));
const major = Number(process.versions.node.split('.')[0]);

/** The Node that came with the install, or undefined. */
function bundledNode() {
  const require = createRequire(import.meta.url);
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  try {
    const folder = dirname(require.resolve(`${name}/package.json`));
    const file = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Runs this file again on `node`. On a terminal Ctrl-C reaches both processes, so it is passed on only where there is none;
 * the channel lets the child notice that this process was killed.
 */
function runOn(node) {
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ICESWEEP_FOLLOWS_PARENT: '1' },
  });
  process.on('SIGINT', () => {
    if (!onTerminal) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`icesweep: cannot start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

/** Ends this process the hard way when the one that started it is gone, as if the signal had reached both. */
function followParent() {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
  delete process.env.ICESWEEP_FOLLOWS_PARENT;
}

/** A fault that nobody could catch, such as records on a full disk: one line, no stack. */
function tellFault(error) {
  // Whoever else listens knows more of it.
  if (process.listenerCount('uncaughtException') > 1) return;
  process.stderr.write(
    `UnexpectedFault: ${error instanceof Error ? error.message : error}. Mend it and run the same command again.\n`,
  );
  process.exit(1);
}

async function start() {
  process.on('uncaughtException', tellFault);
  if (process.env.ICESWEEP_FOLLOWS_PARENT === '1' && process.connected) followParent();
  // The published package holds compiled JavaScript, a checkout the sources.
  const entry = ['main.js', 'main.ts'].map((name) => join(here, 'cli', name)).find((file) => existsSync(file));
  const { main } = await import(pathToFileURL(entry).href);
  process.exit(await main(process.argv.slice(2)));
}

if (major >= NEEDED_MAJOR) {
  await start();
} else {
  const node = bundledNode();
  if (node !== undefined) {
    runOn(node);
  } else {
    process.stderr.write(
      `icesweep needs Node ${NEEDED_MAJOR} or newer and this is ${process.version}; no Node came with the install for ` +
        `${process.platform}-${process.arch}: install Node ${NEEDED_MAJOR} (https://nodejs.org) and run the command again.\n`,
    );
    process.exitCode = 1;
  }
}
