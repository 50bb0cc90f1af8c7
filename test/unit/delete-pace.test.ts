import assert from 'node:assert/strict';
import test from 'node:test';
import {
  easier,
  FULL_PACE,
  isExhausted,
  PATIENCE,
  type Pace,
  pauseSeconds,
  requestSize,
  slower,
} from '#functions/delete/pace.ts';

function after(pace: Pace, clean: number): Pace {
  return Array.from({ length: clean }).reduce<Pace>((current) => easier(current), pace);
}

test('DA-12 a throttle halves the request and doubles the wait', () => {
  const once = slower(FULL_PACE);
  const twice = slower(once);

  assert.deepEqual([requestSize(FULL_PACE, 1000), requestSize(once, 1000), requestSize(twice, 1000)], [1000, 500, 250]);
  assert.deepEqual(
    [FULL_PACE, once, twice].map((pace) => pauseSeconds(pace, 1, 1)),
    [1, 2, 4],
  );
});

test('DA-12 a request never has less than one key, nor more than DeleteObjects takes', () => {
  let pace = FULL_PACE;
  for (let index = 0; index < 20; index++) pace = slower(pace);

  assert.equal(requestSize(pace, 1000), 1);
  assert.equal(requestSize(FULL_PACE, 5000), 1000);
  assert.equal(requestSize(FULL_PACE, 1), 1);
});

test('DA-12 clean requests step back towards the size that was too much and stay below it for a while', () => {
  const throttled = slower(FULL_PACE);

  const sizes = [1, 2, 3, 20, 60].map((clean) => requestSize(after(throttled, clean), 1000));

  assert.ok(sizes.every((size, index) => index === 0 || size >= (sizes[index - 1] as number)));
  assert.equal(requestSize(after(throttled, 60), 1000), 949);
});

test('DA-12 a store that has recovered is used in full again', () => {
  assert.deepEqual(after(slower(slower(FULL_PACE)), 200), FULL_PACE);
});

test('DA-12 only throttles in a row exhaust a run', () => {
  let pace = FULL_PACE;
  for (let index = 0; index < PATIENCE - 1; index++) pace = slower(pace);

  assert.equal(isExhausted(pace), false);
  assert.equal(isExhausted(slower(pace)), true);
  assert.equal(isExhausted(slower(easier(pace))), false);
});

test('the cool-down holds whatever the size while the store never throttled', () => {
  assert.equal(pauseSeconds(FULL_PACE, 7, 0.1), 7);
  assert.equal(pauseSeconds(FULL_PACE, 0, 1), 0);
  assert.equal(pauseSeconds(slower(FULL_PACE), 0, 1), 2);
});

test('a part of a request is followed by that part of the wait', () => {
  assert.equal(pauseSeconds(slower(FULL_PACE), 1, 0.25), 0.5);
});
