/**
 * Refuses every field of the Amazon States Language that this runtime does not implement. The interpreter below ignores what
 * it does not know, and a machine that silently runs otherwise than on AWS proves nothing.
 */
import { isItemPath } from './item-selector.ts';
import type { JsonObject, StateJson, StateMachineJson } from './types.ts';

const COMMON = ['Type', 'Comment'];
const PATHS = ['InputPath', 'OutputPath'];
const FLOW = ['Next', 'End'];
const RESULT = ['ResultPath', 'ResultSelector', 'Retry', 'Catch'];

const STATE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Pass: [...COMMON, ...PATHS, ...FLOW, 'Parameters', 'Result', 'ResultPath'],
  Task: [...COMMON, ...PATHS, ...FLOW, ...RESULT, 'Parameters', 'Resource', 'TimeoutSeconds'],
  Choice: [...COMMON, ...PATHS, 'Choices', 'Default'],
  Wait: [...COMMON, ...PATHS, ...FLOW, 'Seconds', 'SecondsPath', 'Timestamp', 'TimestampPath'],
  Succeed: [...COMMON, ...PATHS],
  Fail: [...COMMON, 'Error', 'Cause', 'ErrorPath', 'CausePath'],
  Map: [
    ...COMMON,
    ...PATHS,
    ...FLOW,
    ...RESULT,
    'ItemProcessor',
    'ItemReader',
    'ItemSelector',
    'MaxConcurrency',
    'MaxConcurrencyPath',
    'ToleratedFailurePercentage',
    'ToleratedFailureCount',
    'ResultWriter',
    'Label',
  ],
};

const MACHINE_FIELDS = ['StartAt', 'States', 'Comment', 'TimeoutSeconds', 'Version'];
const PROCESSOR_FIELDS = ['StartAt', 'States', 'Comment', 'ProcessorConfig'];
const RETRY_FIELDS = [
  'ErrorEquals',
  'IntervalSeconds',
  'MaxAttempts',
  'BackoffRate',
  'MaxDelaySeconds',
  'JitterStrategy',
];
const CATCH_FIELDS = ['ErrorEquals', 'Next', 'ResultPath', 'Comment'];
const CHOICE_FIELDS =
  /^(Variable|Next|Comment|And|Or|Not|Is(Null|Present|Numeric|String|Boolean|Timestamp)|StringMatches|BooleanEquals(Path)?|(String|Numeric|Timestamp)(Equals|LessThan|GreaterThan|LessThanEquals|GreaterThanEquals)(Path)?)$/;
const CONTEXT_PATHS = /^\$\$\.(Execution\.(Id|Name|StartTime|Input(\.[\w.]+)?)|StateMachine\.(Id|Name))$/;

/** What the definition uses and this runtime does not have, each with the place; empty where all is well. */
export function unsupportedFields(definition: StateMachineJson, functionArns: readonly string[]): string[] {
  const faults = unknownFields('the state machine', definition, MACHINE_FIELDS);
  const language = definition['QueryLanguage'];
  if (language !== undefined && language !== 'JSONPath') faults.push(`QueryLanguage ${String(language)}`);
  return [...faults, ...statesFaults(definition.States, functionArns, false)];
}

function unknownFields(where: string, value: JsonObject, known: readonly string[]): string[] {
  return Object.keys(value)
    .filter((field) => !known.includes(field) && field !== 'QueryLanguage')
    .map((field) => `field ${field} of ${where}`);
}

function statesFaults(
  states: Readonly<Record<string, StateJson>>,
  functionArns: readonly string[],
  child: boolean,
): string[] {
  return Object.entries(states).flatMap(([name, state]) => {
    const known = STATE_FIELDS[state.Type];
    if (known === undefined) return [`${state.Type} state ${name}`];
    return [
      ...unknownFields(`${state.Type} state ${name}`, state, known),
      ...retryFaults(name, state),
      ...contextFaults(name, state, child),
      ...typeFaults(name, state, functionArns),
    ];
  });
}

function retryFaults(name: string, state: StateJson): string[] {
  const retries = (state['Retry'] as JsonObject[] | undefined) ?? [];
  const catches = (state['Catch'] as JsonObject[] | undefined) ?? [];
  return [
    ...retries.flatMap((retry) => unknownFields(`Retry of ${name}`, retry, RETRY_FIELDS)),
    ...catches.flatMap((one) => unknownFields(`Catch of ${name}`, one, CATCH_FIELDS)),
  ];
}

/** Paths into the context object wherever they stand, except in a map's ItemSelector, which has rules of its own. */
function contextFaults(name: string, state: StateJson, child: boolean): string[] {
  const faults: string[] = [];
  const visit = (value: unknown, field: string): void => {
    if (typeof value === 'string') {
      if (value.includes('$$') && (child || !CONTEXT_PATHS.test(value))) faults.push(`${value} in ${name}`);
    } else if (Array.isArray(value)) {
      for (const element of value) visit(element, field);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) if (!NOT_TEMPLATES.has(key)) visit(inner, key);
    }
  };
  visit(state, '');
  return faults;
}

const NOT_TEMPLATES = new Set(['ItemSelector', 'ItemProcessor', 'Comment', 'Result']);

function typeFaults(name: string, state: StateJson, functionArns: readonly string[]): string[] {
  switch (state.Type) {
    case 'Task':
      return functionArns.includes(state['Resource'] as string)
        ? []
        : [`Resource ${String(state['Resource'])} of ${name}: only Lambda functions of the stack`];
    case 'Pass':
      // The interpreter takes a falsy Result for an absent one.
      return 'Result' in state && !state['Result'] ? [`Result ${JSON.stringify(state['Result'])} of ${name}`] : [];
    case 'Choice':
      return (state['Choices'] as JsonObject[]).flatMap((rule) => ruleFaults(name, rule));
    case 'Fail':
      return ['ErrorPath', 'CausePath']
        .filter((field) => String(state[field] ?? '$').startsWith('States.'))
        .map((field) => `intrinsic function in ${field} of ${name}`);
    case 'Map':
      return mapFaults(name, state, functionArns);
    default:
      return [];
  }
}

function ruleFaults(name: string, rule: JsonObject): string[] {
  const nested = [...((rule['And'] as JsonObject[]) ?? []), ...((rule['Or'] as JsonObject[]) ?? [])];
  if (rule['Not'] !== undefined) nested.push(rule['Not'] as JsonObject);
  return [
    ...Object.keys(rule)
      .filter((field) => !CHOICE_FIELDS.test(field))
      .map((field) => `field ${field} of a rule of ${name}`),
    ...nested.flatMap((inner) => ruleFaults(name, inner)),
  ];
}

function mapFaults(name: string, state: StateJson, functionArns: readonly string[]): string[] {
  const processor = state['ItemProcessor'] as StateMachineJson;
  const config = (processor['ProcessorConfig'] ?? {}) as JsonObject;
  const reader = (state['ItemReader'] ?? {}) as JsonObject;
  const writer = (state['ResultWriter'] ?? {}) as JsonObject;
  const faults = [
    ...unknownFields(`ItemProcessor of ${name}`, processor, PROCESSOR_FIELDS),
    ...unknownFields(`ItemReader of ${name}`, reader, ['Resource', 'ReaderConfig', 'Parameters']),
    ...unknownFields(`ReaderConfig of ${name}`, (reader['ReaderConfig'] ?? {}) as JsonObject, ['InputType']),
    ...unknownFields(`ResultWriter of ${name}`, writer, ['Resource', 'Parameters']),
    ...selectorFaults(name, state['ItemSelector']),
    ...statesFaults(processor.States, functionArns, true),
  ];
  if (config['Mode'] !== 'DISTRIBUTED') faults.push(`inline Map state ${name}`);
  if (config['ExecutionType'] !== 'STANDARD')
    faults.push(`ExecutionType ${String(config['ExecutionType'])} of ${name}`);
  if (reader['Resource'] !== 'arn:aws:states:::s3:getObject') faults.push(`ItemReader of ${name}: only s3:getObject`);
  if ((reader['ReaderConfig'] as JsonObject | undefined)?.['InputType'] !== 'JSONL') {
    faults.push(`ItemReader of ${name}: only JSONL`);
  }
  if (writer['Resource'] !== 'arn:aws:states:::s3:putObject')
    faults.push(`Map state ${name} without a ResultWriter to S3`);
  return faults;
}

function selectorFaults(name: string, template: unknown): string[] {
  if (typeof template !== 'object' || template === null) return [];
  return Object.entries(template).flatMap(([key, value]) => {
    if (!key.endsWith('.$')) return selectorFaults(name, value);
    return isItemPath(value) ? [] : [`${String(value)} in ItemSelector of ${name}`];
  });
}
