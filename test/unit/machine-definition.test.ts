import assert from 'node:assert/strict';
import test from 'node:test';
import aslValidator from 'asl-validator';
import { unsupportedFields } from '#infra/local/machine/check-fields.ts';
import { Interpreter } from '#infra/local/machine/interpreter.ts';
import { selectItem } from '#infra/local/machine/item-selector.ts';
import { functionArn } from '#infra/local/machine/names.ts';
import type { StateMachineJson } from '#infra/local/machine/types.ts';
import { scriptedMachineFile } from '#test/infra/scripted-machine.ts';

const file = await scriptedMachineFile();
const PLAN = functionArn('plan');

function definition(state: object): StateMachineJson {
  return { StartAt: 'Only', States: { Only: { ...state } as never } };
}

test('the synthesized definition is valid Amazon States Language', () => {
  const { isValid, errorsText } = aslValidator(file.definition as never, { checkArn: true, checkPaths: true });

  assert.ok(isValid, isValid ? '' : errorsText('\n'));
});

test('the runtime implements every field of the synthesized definition', () => {
  assert.deepEqual(unsupportedFields(file.definition, Object.keys(file.functions)), []);
});

const refused: readonly [string, object, RegExp][] = [
  ['a Parallel state', { Type: 'Parallel', Branches: [], End: true }, /Parallel state Only/],
  ['a heartbeat', { Type: 'Task', Resource: PLAN, HeartbeatSeconds: 5, End: true }, /field HeartbeatSeconds/],
  ['credentials', { Type: 'Task', Resource: PLAN, Credentials: {}, End: true }, /field Credentials/],
  ['another service', { Type: 'Task', Resource: 'arn:aws:states:::sns:publish', End: true }, /sns:publish/],
  ['JSONata', { Type: 'Pass', QueryLanguage: 'JSONata', Output: '{% 1 %}', End: true }, /field Output/],
  ['variables', { Type: 'Pass', Assign: { x: 1 }, End: true }, /field Assign/],
  ['a falsy Result', { Type: 'Pass', Result: 0, End: true }, /Result 0/],
  [
    'a task token',
    { Type: 'Task', Resource: PLAN, Parameters: { 'x.$': '$$.Task.Token' }, End: true },
    /\$\$\.Task\.Token/,
  ],
  ['an inline map', { Type: 'Map', ItemProcessor: { StartAt: 'A', States: {} }, End: true }, /inline Map/],
  [
    'an unknown choice operator',
    { Type: 'Choice', Choices: [{ Variable: '$.a', Sounds: 'x', Next: 'Only' }] },
    /field Sounds/,
  ],
  [
    'an unknown Retry field',
    { Type: 'Task', Resource: PLAN, Retry: [{ ErrorEquals: [], Colour: 1 }], End: true },
    /Colour/,
  ],
];

for (const [what, state, expected] of refused) {
  test(`${what} is refused, not ignored`, () => {
    assert.match(unsupportedFields(definition(state), [PLAN]).join('; '), expected);
  });
}

test('each field of a distributed map that is not implemented is refused', () => {
  const maps = Object.entries(file.definition.States).filter(([, state]) => state.Type === 'Map');
  const [name = '', map] = maps[0] ?? [];
  const changes: Record<string, object> = {
    ItemBatcher: { ItemBatcher: { MaxItemsPerBatch: 10 } },
    ToleratedFailurePercentagePath: { ToleratedFailurePercentagePath: '$.x' },
    'only JSONL': { ItemReader: { Resource: 'arn:aws:states:::s3:getObject', ReaderConfig: { InputType: 'CSV' } } },
    'only s3:getObject': { ItemReader: { Resource: 'arn:aws:states:::s3:listObjectsV2' } },
    'without a ResultWriter': { ResultWriter: undefined },
    'States.Format': { ItemSelector: { 'x.$': "States.Format('{}', $.y)" } },
  };
  for (const [expected, change] of Object.entries(changes)) {
    const changed = {
      ...file.definition,
      States: { ...file.definition.States, [name]: { ...map, ...change } as never },
    };
    assert.match(
      unsupportedFields(changed, Object.keys(file.functions)).join('; '),
      new RegExp(expected.replace('.', '\\.')),
    );
  }
});

test('an interpreter does not start over a definition that it would run otherwise than AWS', () => {
  assert.throws(
    () =>
      new Interpreter({
        definition: definition({ Type: 'Pass', Assign: {}, End: true }),
        functionArns: [],
        workBucket: 'w',
        work: { get: async () => '', put: async () => {} },
        invoke: async () => null,
      }),
    /does not implement: field Assign of Pass state Only/,
  );
});

test('an ItemSelector takes paths of the input and of the item, and fails on what is absent', () => {
  const template = {
    'run.$': '$.run',
    'item.$': '$$.Map.Item.Value',
    'n.$': '$$.Map.Item.Index',
    fixed: [{ 'a.$': '$.run.id' }],
  };

  const selected = selectItem(template, { run: { id: 7 } }, { index: 3, value: { shard: 1 } });

  assert.deepEqual(selected, { run: { id: 7 }, item: { shard: 1 }, n: 3, fixed: [{ a: 7 }] });
  assert.throws(() => selectItem(template, {}, { index: 0, value: 1 }), { name: 'States.ParameterPathFailure' });
});
