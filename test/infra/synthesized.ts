/** A deployment as its template, with functions that cost no bundling. */
import { App, NestedStack, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { OrphanCleanup, type OrphanCleanupProps } from '#infra/index.ts';
import { FAKE_FUNCTIONS } from './scripted-machine.ts';

export interface Deployment {
  readonly app: App;
  readonly stack: Stack;
  readonly cleanup: OrphanCleanup;
  template(): Template;
}

export const LOCATION = 's3://lake/warehouse/';

export function deploy(
  props: Partial<OrphanCleanupProps> | ((stack: Stack) => Partial<OrphanCleanupProps>) = {},
): Deployment {
  const app = new App({ analyticsReporting: false, context: { 'icesweep:functions': FAKE_FUNCTIONS } });
  const stack = new Stack(app, 'Fleet');
  const given = typeof props === 'function' ? props(stack) : props;
  const cleanup = new OrphanCleanup(stack, 'Cleanup', { tableLocations: [LOCATION], ...given });
  return { app, stack, cleanup, template: () => Template.fromStack(stack) };
}

/** Templates of the stacks that hold the schedules and alarms of tables. */
export function nestedTemplates(stack: Stack): Template[] {
  const nested = stack.node.findAll().filter((node): node is NestedStack => NestedStack.isNestedStack(node));
  return nested.map((one) => Template.fromStack(one));
}

export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: templates have no types.
  readonly Properties: any;
  readonly DeletionPolicy?: string;
}

export function resourcesOf(template: Template, type: string): [string, Resource][] {
  return Object.entries(template.findResources(type) as Record<string, Resource>);
}

/** References by name, joins joined: for comparing with regular expressions. */
export function flat(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(flat).join(',');
  if (typeof value !== 'object' || value === null) return String(value);
  const [[name, argument] = ['', undefined]] = Object.entries(value);
  if (name === 'Fn::Join') return (argument as [string, unknown[]])[1].map(flat).join('');
  if (name === 'Ref') return `<${argument}>`;
  if (name === 'Fn::GetAtt') return `<${(argument as string[]).join('.')}>`;
  return JSON.stringify(value);
}

export interface Grant {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  readonly condition: unknown;
}

/** Every allowed action on every resource, by the logical id of the role. */
export function grantsOf(template: Template): Grant[] {
  return resourcesOf(template, 'AWS::IAM::Policy').flatMap(([, policy]) =>
    policy.Properties.PolicyDocument.Statement.flatMap((statement: Record<string, unknown>) =>
      policy.Properties.Roles.flatMap((role: unknown) =>
        [statement['Action']].flat().flatMap((action) =>
          [statement['Resource']].flat().map((resource) => ({
            role: flat(role).replace(/[<>]/g, ''),
            action: String(action),
            resource: flat(resource),
            condition: statement['Condition'],
          })),
        ),
      ),
    ),
  );
}
