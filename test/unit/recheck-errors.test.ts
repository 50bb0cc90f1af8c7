import assert from 'node:assert/strict';
import test from 'node:test';
import { LeaseLostError, MetadataUnreadableError, ServiceUnavailableError } from '#shared/errors.ts';
import { requireClaimsAllow } from '#shared/run/gates-recheck.ts';
import { stopsTheStage } from '#shared/run/recheck.ts';
import { storeFault } from '#test/support/memory-store.ts';

test('a passing fault of a store or of a service stops nobody else', () => {
  const dynamo = Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });

  for (const error of [storeFault('Throttled'), storeFault('Unavailable'), new ServiceUnavailableError('x'), dynamo]) {
    assert.equal(stopsTheStage(error), false, error.name);
  }
});

test('everything else ends the delete stage for every batch', () => {
  const errors = [
    storeFault('AccessDenied'),
    storeFault('NoSuchBucket'),
    storeFault('BadRequest'),
    new LeaseLostError('x'),
    new MetadataUnreadableError('x'),
    new TypeError('a bug'),
  ];

  for (const error of errors) assert.equal(stopsTheStage(error), true, error.name);
});

test('gc.enabled that the catalog came to say can only refuse', () => {
  for (const gc_enabled of [[], ['true'], [' TRUE ', 'true']]) {
    assert.doesNotThrow(() => requireClaimsAllow({ gc_enabled }));
  }
  for (const gc_enabled of [['false'], ['true', 'False'], ['']]) {
    assert.throws(() => requireClaimsAllow({ gc_enabled }), { name: 'GcDisabledError' });
  }
});
