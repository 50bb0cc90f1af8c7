import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { CleanupSettings } from './cleanup-settings.ts';

/** Where the current metadata file of a table is looked up. */
export const CatalogType = {
  /** AWS Glue Data Catalog. */
  GLUE: 'GLUE',
  /** An Iceberg REST catalog. */
  REST: 'REST',
  /** No catalog: the newest metadata file in the table's own folder. */
  PATH: 'PATH',
} as const;
export type CatalogType = keyof typeof CatalogType;

/** A table of the deployment: its schedule, and the settings that it has to itself. */
export interface CleanupTableProps extends CleanupSettings {
  /** `db.table`, or the table's location where there is no catalog. */
  readonly table: string;
  /**
   * When it is cleaned.
   *
   * @default - only when somebody starts an execution
   */
  readonly schedule?: ScheduleExpression;
  /**
   * Whether runs of this table that do not say otherwise only list and judge.
   *
   * @default - dryRunByDefault of the construct
   */
  readonly dryRun?: boolean;
  /**
   * Where the table lies, for the check that no two tables of the deployment lie in each other.
   *
   * @default - not checked at synthesis; every run checks it against the catalog
   */
  readonly tableLocation?: string;
}

/** Properties of {@link OrphanCleanup}. */
export interface OrphanCleanupProps extends CleanupSettings {
  /** Prefixes under which the tables lie, as `s3://lake/warehouse/`. The fleet reads and deletes nowhere else. */
  readonly tableLocations: string[];
  /**
   * Buckets of `tableLocations` that belong to another account. What their policies must say is among the stack's outputs.
   *
   * @default - none
   */
  readonly bucketsOfOtherAccounts?: string[];
  /**
   * The tables that are cleaned on a schedule or have settings of their own.
   *
   * @default - none; add them with `addTable`
   */
  readonly tables?: CleanupTableProps[];
  /**
   * Where tables are looked up.
   *
   * @default CatalogType.GLUE
   */
  readonly catalogType?: CatalogType;
  /**
   * Account that owns the Glue catalog.
   *
   * @default - this account
   */
  readonly glueCatalogId?: string;
  /**
   * Region of the Glue catalog.
   *
   * @default - this region
   */
  readonly glueCatalogRegion?: string;
  /**
   * Address of the REST catalog.
   *
   * @default - none; required for CatalogType.REST
   */
  readonly restCatalogUri?: string;
  /**
   * Warehouse that the REST catalog is asked for.
   *
   * @default - none
   */
  readonly restCatalogWarehouse?: string;
  /**
   * Prefix of the REST catalog's paths.
   *
   * @default - what the catalog's configuration says
   */
  readonly restCatalogPrefix?: string;
  /**
   * Secret with the REST catalog's bearer token, or client id and secret for OAuth2.
   *
   * @default - the catalog is asked without a token
   */
  readonly restCatalogSecret?: ISecret;
  /**
   * Where the REST catalog's tokens come from.
   *
   * @default - the catalog's own token endpoint
   */
  readonly restCatalogOauth2ServerUri?: string;
  /**
   * OAuth2 scope of the REST catalog.
   *
   * @default - the catalog's default
   */
  readonly restCatalogScope?: string;
  /**
   * Whether runs that do not say otherwise only list and judge. A run deletes with `{"dry_run": false}` even so.
   *
   * @default true
   */
  readonly dryRunByDefault?: boolean;
  /**
   * Deploys no right to delete at all.
   *
   * @default false
   */
  readonly dryRunOnly?: boolean;
  /**
   * The least `older_than` that anybody may give, 24 hours or more.
   *
   * @default Duration.hours(24)
   */
  readonly olderThanFloor?: Duration;
  /**
   * Most delete requests at once that an execution may ask for.
   *
   * @default 10
   */
  readonly maxConcurrentDeletesCeiling?: number;
  /**
   * Most files in a delete request that an execution may ask for.
   *
   * @default 1000
   */
  readonly deleteBatchSizeCeiling?: number;
  /**
   * Shortest pause between delete requests that an execution may ask for, in seconds.
   *
   * @default 0
   */
  readonly leastDeleteCooldownSeconds?: number;
  /**
   * Most files that any run may delete.
   *
   * @default - no limit
   */
  readonly maxFilesPerRunCeiling?: number;
  /**
   * Most scan workers that an execution may ask for.
   *
   * @default 1000
   */
  readonly maxConcurrentScansCeiling?: number;
  /**
   * Most list workers that an execution may ask for.
   *
   * @default 1000
   */
  readonly maxConcurrentListsCeiling?: number;
  /**
   * After this an execution is timed out and recorded as ABORTED.
   *
   * @default Duration.days(3)
   */
  readonly executionTimeout?: Duration;
  /**
   * Schedules start within this time after their own, so that a fleet does not start at once.
   *
   * @default Duration.hours(1)
   */
  readonly scheduleWindow?: Duration;
  /**
   * Whether schedules fire.
   *
   * @default true
   */
  readonly schedulesEnabled?: boolean;
  /**
   * Bucket for the runs' artefacts, below `runs/`. Bring one with a lifecycle rule of its own.
   *
   * @default - a bucket is made; it is removed with the stack when it is empty
   */
  readonly workBucket?: IBucket;
  /**
   * Bucket that takes the access logs of the work bucket.
   *
   * @default - no access logs
   */
  readonly accessLogsBucket?: IBucket;
  /**
   * How long a made work bucket keeps the artefacts of a run.
   *
   * @default Duration.days(90)
   */
  readonly artefactRetention?: Duration;
  /**
   * Table for run records, with keys `pk` and `sk` and an index `by-status` over `status_pk` and `status_sk`.
   *
   * @default - a table is made; it stays when the stack is removed
   */
  readonly runTable?: ITable;
  /**
   * Key for work bucket, run table, logs and the functions' environment.
   *
   * @default - keys that AWS owns
   */
  readonly encryptionKey?: IKey;
  /**
   * Keys that table files are encrypted with, for reading manifests.
   *
   * @default - none
   */
  readonly tableEncryptionKeys?: IKey[];
  /**
   * Network of the functions. It needs ways to S3, DynamoDB, Step Functions, and the catalog.
   *
   * @default - no network of yours
   */
  readonly vpc?: IVpc;
  /**
   * Subnets of the functions.
   *
   * @default - the private subnets of the network
   */
  readonly vpcSubnets?: SubnetSelection;
  /**
   * Security groups of the functions.
   *
   * @default - one is made
   */
  readonly securityGroups?: ISecurityGroup[];
  /**
   * Boundary of every role that is made.
   *
   * @default - none
   */
  readonly permissionsBoundary?: IManagedPolicy;
  /**
   * Topic that alarms go to.
   *
   * @default - alarms have no action
   */
  readonly alarmTopic?: ITopic;
  /**
   * Whether alarms are made.
   *
   * @default true
   */
  readonly alarmsEnabled?: boolean;
  /**
   * A scheduled table without a successful cleanup for so many days raises an alarm.
   *
   * @default 8
   */
  readonly daysWithoutSuccess?: number;
  /**
   * Whether a dashboard is made.
   *
   * @default true
   */
  readonly dashboardEnabled?: boolean;
  /**
   * Bus that the events of runs go to.
   *
   * @default - the default bus of the account
   */
  readonly eventBus?: IEventBus;
  /**
   * How long logs are kept.
   *
   * @default RetentionDays.THREE_MONTHS
   */
  readonly logRetention?: RetentionDays;
  /**
   * Value of the metrics' dimension `service`; give each deployment in an account its own.
   *
   * @default 'icesweep'
   */
  readonly serviceName?: string;
  /**
   * What becomes of bucket, table and logs when the stack is removed.
   *
   * @default - the table is retained, bucket and logs are destroyed
   */
  readonly removalPolicy?: RemovalPolicy;
}
