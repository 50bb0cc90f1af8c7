/** Reads from a synthesized template what the one-machine runtime needs, as plain values. */
import { join } from 'node:path';
import { functionArn, PSEUDO_PARAMETERS, RUN_TABLE_NAME, WORK_BUCKET_PLACEHOLDER } from './names.ts';
import type { JsonObject, LocalFunction, MachineFile, StateMachineJson } from './types.ts';

interface Resource {
  readonly Type: string;
  readonly Properties: JsonObject;
  readonly Metadata?: { readonly 'aws:asset:path'?: string; readonly 'aws:cdk:path'?: string };
}

class TemplateResolver {
  readonly resources: Readonly<Record<string, Resource>>;

  constructor(template: JsonObject) {
    this.resources = template['Resources'] as Record<string, Resource>;
  }

  ofType(...types: string[]): [string, Resource][] {
    return Object.entries(this.resources).filter(([, { Type }]) => types.includes(Type));
  }

  only(...types: string[]): Resource {
    const found = this.ofType(...types);
    if (found.length !== 1) throw new Error(`The template has ${found.length} resources of type ${types.join(', ')}`);
    return found[0]?.[1] as Resource;
  }

  /** Path of the construct below its stack, e.g. `Cleanup/Functions/Plan/Function/Resource`. */
  constructPath(resource: Resource): string {
    return (resource.Metadata?.['aws:cdk:path'] ?? '').split('/').slice(1).join('/');
  }

  functionName(resource: Resource): string {
    const parts = this.constructPath(resource).split('/');
    return (parts[parts.indexOf('Functions') + 1] ?? '').toLowerCase();
  }

  /** Intrinsic functions of CloudFormation, as far as our templates use them. Throws on every other. */
  text(value: unknown): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    const [[name, argument] = ['', undefined]] = Object.entries(value as JsonObject);
    switch (name) {
      case 'Ref':
        return this.#ref(argument as string);
      case 'Fn::GetAtt':
        return this.#attribute(argument as [string, string]);
      case 'Fn::Join': {
        const [separator, parts] = argument as [string, unknown[]];
        return parts.map((part) => this.text(part)).join(separator);
      }
      default:
        throw new Error(`The template has ${JSON.stringify(value)}, which the one-machine runtime cannot resolve`);
    }
  }

  #ref(id: string): string {
    const pseudo = PSEUDO_PARAMETERS[id];
    if (pseudo !== undefined) return pseudo;
    const resource = this.resources[id];
    switch (resource?.Type) {
      case 'AWS::S3::Bucket':
        return WORK_BUCKET_PLACEHOLDER;
      case 'AWS::DynamoDB::GlobalTable':
      case 'AWS::DynamoDB::Table':
        return RUN_TABLE_NAME;
      default:
        return id;
    }
  }

  #attribute([id, attribute]: [string, string]): string {
    const resource = this.resources[id];
    if (resource?.Type === 'AWS::Lambda::Function' && attribute === 'Arn')
      return functionArn(this.functionName(resource));
    return `${id}.${attribute}`;
  }
}

function localFunction(resolver: TemplateResolver, resource: Resource, assemblyDir: string): LocalFunction {
  const { MemorySize, Timeout, Environment, Handler } = resource.Properties;
  const asset = resource.Metadata?.['aws:asset:path'];
  const name = resolver.functionName(resource);
  if (asset === undefined || Handler !== 'index.handler') throw new Error(`Function ${name} has no bundle`);
  const variables = (Environment as { Variables?: JsonObject } | undefined)?.Variables ?? {};
  return {
    name,
    bundleDir: join(assemblyDir, asset),
    memoryMegabytes: MemorySize as number,
    timeoutSeconds: Timeout as number,
    environment: Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, resolver.text(value)])),
  };
}

/** GlobalTable writes provisioning per replica; CreateTable wants it once. */
function createTableInput(table: Resource): JsonObject {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes = [] } = table.Properties;
  const indexes = (GlobalSecondaryIndexes as JsonObject[]).map(({ IndexName, KeySchema: keys, Projection }) => ({
    IndexName,
    KeySchema: keys,
    Projection,
  }));
  return {
    KeySchema,
    AttributeDefinitions,
    BillingMode: 'PAY_PER_REQUEST',
    ...(indexes.length > 0 ? { GlobalSecondaryIndexes: indexes } : {}),
  };
}

/** Takes state machine, functions and run table out of a template of the assembly in `assemblyDir`. */
export function resolveTemplate(template: JsonObject, assemblyDir: string): MachineFile {
  const resolver = new TemplateResolver(template);
  const machine = resolver.only('AWS::StepFunctions::StateMachine');
  const definition = JSON.parse(resolver.text(machine.Properties['DefinitionString'])) as StateMachineJson;
  const stages = resolver.ofType('AWS::Lambda::Function').map(([, resource]) => resource);
  const functions = stages
    .filter((resource) => resolver.constructPath(resource).split('/').includes('Functions'))
    .map((resource) => localFunction(resolver, resource, assemblyDir));
  return {
    definition,
    functions: Object.fromEntries(functions.map((found) => [functionArn(found.name), found])),
    runTable: createTableInput(resolver.only('AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table')),
  };
}
