/** What deleting must do over any S3 server, whatever it or the line to it does; registered by `e2e/s3-delete-real.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { S3DeleteWorld, type S3Place } from './s3-delete-world.ts';
import type { Ability } from './store-contract.ts';

export interface DeleteCheck {
  readonly name: string;
  readonly needs?: Ability;
  readonly versioned?: true;
  /** A number stands for that many plain names. */
  readonly orphans?: number | readonly string[];
  run(world: S3DeleteWorld): Promise<void>;
}

/** Registers the checks that the server has the abilities for. */
export function registerDeleteChecks(
  title: string,
  checks: readonly DeleteCheck[],
  place: (versioned: boolean) => Promise<S3Place>,
  abilities: ReadonlySet<Ability>,
): void {
  for (const { name, needs, versioned, orphans, run } of checks) {
    const skip = needs !== undefined && !abilities.has(needs) ? `the server lacks ${needs}` : false;
    test(`${title}: ${name}`, { skip }, async () => {
      const world = await S3DeleteWorld.open(await place(versioned === true), orphans);
      try {
        await run(world);
        assert.deepEqual(await world.lost(), [], 'files that the table names are gone');
      } finally {
        await world.proxy.close();
      }
    });
  }
}
