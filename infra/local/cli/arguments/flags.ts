/** Every flag, once: what it takes, which input it becomes, which commands know it, what the help says (DESIGN sections 10, 11). */

import { limits, pace, paths, what } from './input-flags.ts';

export type FlagKind = 'switch' | 'text' | 'number' | 'texts' | 'map';

export interface Flag {
  readonly name: string;
  readonly kind: FlagKind;
  /** What the help shows behind the flag. */
  readonly value?: string;
  /** The input it becomes; absent where it is the command line's own. */
  readonly input?: string;
  readonly group: FlagGroup;
  readonly help: string;
}

/** Groups are given to commands as a whole. */
export type FlagGroup =
  | 'common'
  | 'table'
  | 'store'
  | 'catalog'
  | 'what'
  | 'limits'
  | 'paths'
  | 'pace'
  | 'delete'
  | 'sealed'
  | 'machine'
  | 'fleet'
  | 'html';

const common: readonly Flag[] = [
  { name: 'state', kind: 'text', value: 'DIR', group: 'common', help: 'where runs are kept (.icesweep)' },
  { name: 'output', kind: 'text', value: 'FORMAT', group: 'common', help: 'text, json or jsonl' },
  { name: 'quiet', kind: 'switch', group: 'common', help: 'no progress; errors only' },
  { name: 'help', kind: 'switch', group: 'common', help: 'this page' },
];

const store: readonly Flag[] = [
  {
    name: 'endpoint-url',
    kind: 'text',
    value: 'URL',
    group: 'store',
    help: 'an S3-compatible store (MinIO, R2, Ceph)',
  },
  { name: 'region', kind: 'text', value: 'NAME', group: 'store', help: 'region of the store' },
  { name: 'path-style', kind: 'switch', group: 'store', help: 'bucket in the path; set with --endpoint-url' },
  { name: 'profile', kind: 'text', value: 'NAME', group: 'store', help: 'AWS profile with the credentials' },
];

const catalog: readonly Flag[] = [
  { name: 'catalog', kind: 'text', value: 'TYPE', group: 'catalog', help: 'path (no catalog), glue or rest' },
  { name: 'uri', kind: 'text', value: 'URL', group: 'catalog', help: 'of a rest catalog' },
  { name: 'warehouse', kind: 'text', value: 'NAME', group: 'catalog', help: 'of a rest catalog' },
  { name: 'catalog-prefix', kind: 'text', value: 'TEXT', group: 'catalog', help: 'path prefix of a rest catalog' },
  { name: 'catalog-id', kind: 'text', value: 'ACCOUNT', group: 'catalog', help: 'Glue catalog of another account' },
  { name: 'token-env', kind: 'text', value: 'NAME', group: 'catalog', help: 'variable that holds the token' },
  { name: 'oauth2-server-uri', kind: 'text', value: 'URL', group: 'catalog', help: 'where the token is exchanged' },
  { name: 'oauth2-scope', kind: 'text', value: 'TEXT', group: 'catalog', help: 'scope of that exchange' },
  {
    name: 'mount',
    kind: 'texts',
    value: 'PREFIX=DIR',
    group: 'table',
    help: 'recorded prefix → local directory; repeatable',
  },
  {
    name: 'metadata-location',
    kind: 'text',
    value: 'PATH',
    input: 'metadata_location',
    group: 'table',
    help: 'stand on this metadata file',
  },
  {
    name: 'metadata-choice',
    kind: 'text',
    value: 'RULE',
    input: 'metadata_choice',
    group: 'table',
    help: 'version or last_updated',
  },
  {
    name: 'table-uuid',
    kind: 'text',
    value: 'UUID',
    input: 'table_uuid',
    group: 'table',
    help: 'the table must have this uuid',
  },
];

const deleting: readonly Flag[] = [
  { name: 'yes', kind: 'switch', group: 'delete', help: 'do not ask' },
  { name: 'dry-run', kind: 'switch', input: 'dry_run', group: 'what', help: 'only plan, whatever the command' },
  { name: 'detailed-exitcode', kind: 'switch', group: 'common', help: 'exit 2 when orphans were found' },
  {
    name: 'override',
    kind: 'text',
    value: 'DIGEST',
    input: 'override',
    group: 'sealed',
    help: 'delete a plan that a threshold refused',
  },
  {
    name: 'plan',
    kind: 'text',
    value: 'RUN',
    input: 'plan',
    group: 'sealed',
    help: 'delete this run’s plan, as `delete RUN` does',
  },
];

const fleet: readonly Flag[] = [
  { name: 'state-machine', kind: 'text', value: 'ARN', group: 'machine', help: 'the deployed state machine' },
  { name: 'run-table', kind: 'text', value: 'NAME', group: 'fleet', help: 'the deployed run table (DynamoDB)' },
  { name: 'work-bucket', kind: 'text', value: 'NAME', group: 'fleet', help: 'the deployed work bucket' },
  { name: 'html', kind: 'text', value: 'FILE', group: 'html', help: 'write the page there' },
  { name: 'limit', kind: 'number', value: 'N', group: 'html', help: 'show so many runs (50)' },
];

export const FLAGS: readonly Flag[] = [
  ...common,
  ...what,
  ...catalog,
  ...store,
  ...limits,
  ...paths,
  ...pace,
  ...deleting,
  ...fleet,
];
