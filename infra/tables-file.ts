/** The tables file of the app: tables as data, with the names of the execution's input. */
import { readFileSync } from 'node:fs';
import { Duration, TimeZone } from 'aws-cdk-lib';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { z } from 'zod';
import { parseDuration } from '#shared/run/durations.ts';
import { deploymentSettingSchema } from '#shared/run/input-schema.ts';
import { describeSettings } from '#shared/run/json-schema.ts';
import { scheduleFault } from './constructs/check-tables.ts';
import type { CleanupTableProps } from './constructs/orphan-cleanup-props.ts';

const DURATIONS = new Set(['older_than', 'max_writer_lag', 'max_plan_age', 'pending_manifest_horizon']);

const schedule = z
  .string()
  .superRefine((text, context) => {
    const fault = scheduleFault(text);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({
    description: 'cron(…), rate(…) or at(…), as EventBridge Scheduler takes it.',
    pattern: '^(cron|rate|at)\\(.+\\)$',
  });

const entrySchema = deploymentSettingSchema
  .omit({ catalog: true, location: true, metadata_choice: true })
  .extend({
    table: z.string().regex(/\S/),
    schedule: schedule.optional(),
    timezone: z
      .string()
      .optional()
      .meta({ description: 'Time zone of the schedule, such as Europe/Berlin; UTC if left out.' }),
    table_location: z
      .string()
      .optional()
      .meta({ description: 'Where the table lies: no two tables may lie in each other.' }),
    older_than: z.string().optional().meta({ description: 'Such as P3D, 3d or 72h.' }),
  })
  .strict();

export const tablesFileSchema = z.strictObject({
  $schema: z.string().optional(),
  tables: z.array(entrySchema),
});

type Schema = Record<string, unknown>;

/** The JSON Schema (draft 2020-12) of the tables file, for editors. */
export function tablesFileJsonSchema(): Schema {
  const schema = z.toJSONSchema(tablesFileSchema, { io: 'input', target: 'draft-2020-12' });
  const properties = schema.properties as Readonly<Record<'tables', Schema>>;
  const entry = properties.tables['items'] as Schema;
  const items = { ...entry, properties: describeSettings(entry['properties'] as Schema) };
  return {
    ...schema,
    title: 'icesweep tables',
    description: 'Tables that a deployment of icesweep cleans.',
    properties: { ...properties, tables: { ...properties.tables, items } },
  };
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

function toProps(entry: z.output<typeof entrySchema>): CleanupTableProps {
  const { table, schedule: expression, timezone, ...settings } = entry;
  const props = Object.entries(settings).map(([name, value]) => {
    if (!DURATIONS.has(name)) return [camelCase(name), value];
    const parsed = parseDuration(value as string);
    if ('problem' in parsed) throw new Error(`${table}: ${name} ${parsed.problem}`);
    return [camelCase(name), Duration.millis(parsed.value)];
  });
  return {
    ...Object.fromEntries(props),
    table,
    ...(expression === undefined
      ? {}
      : {
          schedule: ScheduleExpression.expression(
            expression,
            timezone === undefined ? undefined : TimeZone.of(timezone),
          ),
        }),
  };
}

/** Reads a tables file. Throws an Error that names the file and every fault in it. */
export function readTablesFile(path: string): CleanupTableProps[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path} cannot be read as JSON: ${(error as Error).message}`, { cause: error });
  }
  const parsed = tablesFileSchema.safeParse(content);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    throw new Error(`${path}: ${faults.join('; ')}`);
  }
  return parsed.data.tables.map(toProps);
}
