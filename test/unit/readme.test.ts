/** What the documents say beside commands (those are followed in `e2e/readme.test.ts`): links, the picture, names of things. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { StateJson, StateMachineJson } from '#infra/local/machine/types.ts';
import { inputJsonSchema } from '#shared/run/input.ts';
import { scriptedMachineFile } from '#test/infra/scripted-machine.ts';
import { PROJECT } from '#test/support/cli-world.ts';
import { anchorsOf, blocksOf, linksOf, readDocument } from '#test/support/readme.ts';

const README = readDocument('README.md');
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'functions/README.md', 'test/README.md'];
const LANGUAGES = new Set(['text', 'sh', 'console', 'json', 'ts', 'sql']);

describe('the documents', () => {
  test('link to files and headings that are there', () => {
    const broken = DOCUMENTS.flatMap((name) =>
      linksOf(readDocument(name))
        .filter((target) => !/^https:\/\//.test(target))
        .filter((target) => {
          const [path = '', anchor] = target.split('#');
          const file = path === '' ? name : join(dirname(name), path);
          if (!existsSync(join(PROJECT, file))) return true;
          return anchor !== undefined && !anchorsOf(readDocument(file)).includes(anchor);
        })
        .map((target) => `${name}: ${target}`),
    );

    assert.deepEqual(broken, []);
  });

  test('name the language of every block, so that no command hides in one', () => {
    for (const name of ['README.md', 'CONTRIBUTING.md']) {
      const markdown = readDocument(name);
      const blocks = blocksOf(markdown);

      assert.equal(blocks.length * 2, markdown.match(/^```/gm)?.length);
      assert.deepEqual(
        blocks.filter(({ language }) => !LANGUAGES.has(language)),
        [],
      );
    }
  });
});

test("the README's construct is the app of the consumer test, word for word", () => {
  const [shown] = blocksOf(README).filter(({ language }) => language === 'ts');

  assert.equal(shown?.text, readDocument('test/e2e/consumer/app.ts'));
});

describe('the picture of the state machine', async () => {
  const { definition } = await scriptedMachineFile();
  const states = allStates(definition);
  const [picture] = blocksOf(README).filter(({ text }) => text.startsWith('PlanRun'));
  const lines = (picture?.text ?? '').split('\n');
  const drawn = new Set(lines.flatMap(namesIn));

  test('shows every stage, choice and end', () => {
    /** Shapes messages or calls a worker again: plumbing that tells a reader nothing. */
    const inside = new Set(['IsThePlanSealed?', ...innerStates(definition)].filter((name) => !drawn.has(name)));
    const missing = [...states]
      .filter(([name, { Type }]) => Type !== 'Pass' && !inside.has(name))
      .map(([name]) => name)
      .filter((name) => !drawn.has(name));

    assert.deepEqual(missing, []);
    assert.deepEqual(
      ['DeleteBatch', 'CoolDown'].filter((name) => !drawn.has(name)),
      [],
    );
  });

  test('draws no state and no arrow that the machine lacks', () => {
    assert.deepEqual(
      [...drawn].filter((name) => !states.has(name)),
      [],
    );
    let choice = '';
    for (const line of lines) {
      const names = namesIn(line);
      const path = /^ {2}[├└]/.test(line) ? [choice, ...names] : names;
      for (const [at, to] of path.slice(1).entries())
        assert.ok(leadsTo(path[at] as string, to), `${path[at]} ─▶ ${to} is drawn: ${line}`);
      if (line.endsWith('?')) choice = names.at(-1) as string;
    }
  });

  function namesIn(line: string): string[] {
    return line.match(/\b[A-Z][a-z]+(?:[A-Z][a-z]*)*\b\??/g) ?? [];
  }

  /** Directly, or through states that are not drawn. */
  function leadsTo(from: string, to: string, seen = new Set<string>()): boolean {
    return nextOf(states.get(from)).some((next) => {
      if (next === to) return true;
      if (seen.has(next) || drawn.has(next)) return false;
      return leadsTo(next, to, seen.add(next));
    });
  }
});

function nextOf(state: StateJson | undefined): string[] {
  const {
    Next,
    Default,
    Choices = [],
    Catch = [],
  } = (state ?? {}) as {
    readonly Next?: string;
    readonly Default?: string;
    readonly Choices?: readonly { readonly Next: string }[];
    readonly Catch?: readonly { readonly Next: string }[];
  };
  return [Next, Default, ...[...Choices, ...Catch].map((one) => one.Next)].filter((name) => name !== undefined);
}

function innerStates(machine: StateMachineJson): string[] {
  return [...allStates(machine).keys()].filter((name) => !(name in machine.States));
}

function allStates(machine: StateMachineJson): Map<string, StateJson> {
  const all = new Map<string, StateJson>();
  for (const [name, state] of Object.entries(machine.States)) {
    all.set(name, state);
    const { ItemProcessor: inner } = state as { readonly ItemProcessor?: StateMachineJson };
    if (inner !== undefined) for (const [below, one] of allStates(inner)) all.set(below, one);
  }
  return all;
}

/** Names in code at the start of the rows of the table under a heading. */
function firstCells(heading: string): string[] {
  const [section = ''] = (README.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ');
  return [...section.matchAll(/^\| ([^|]+)\|/gm)].flatMap(([, cell]) =>
    [...(cell as string).matchAll(/`([^`]+)`/g)].map(([, name]) => name as string),
  );
}

test('the inputs: every one has its row, and every row is one', () => {
  const { properties } = inputJsonSchema() as { readonly properties: Readonly<Record<string, unknown>> };
  /** Spark's, taken without effect; what only the scheduler sets. */
  const silent = ['stream_results', 'prefix_listing', 'scheduled_time'];

  assert.deepEqual([...firstCells('Input'), ...silent].sort(), Object.keys(properties).sort());
});
