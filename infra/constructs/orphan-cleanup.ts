import { Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import type { Dashboard, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import {
  type Grant,
  type IGrantable,
  PermissionsBoundary,
  type PolicyStatement,
  type Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { type Bundles, bundleFunctions } from '#infra/bundles.ts';
import type { DeploymentSetting } from '#shared/run/input-schema.ts';
import type { FunctionName } from '#shared/runtime/env.ts';
import { DEFAULT_SERVICE } from '#shared/runtime/metric-names.ts';
import type { MetricName } from '#shared/runtime/stage-ports.ts';
import { acknowledgeFindings } from './acknowledged-findings.ts';
import { bucketPolicyStatements } from './bucket-policy.ts';
import { tableFaults } from './check-tables.ts';
import { CleanupAlarms } from './cleanup-alarms.ts';
import { CleanupDashboard } from './cleanup-dashboard.ts';
import { cleanupMetric } from './cleanup-metrics.ts';
import { CleanupOutputs } from './cleanup-outputs.ts';
import { toDeploymentSetting } from './cleanup-settings.ts';
import { DeploymentLayer } from './deployment-layer.ts';
import { deploymentSettings } from './deployment-settings.ts';
import type { CleanupTableProps, OrphanCleanupProps } from './orphan-cleanup-props.ts';
import { OutsideEvents } from './outside-events.ts';
import { RunMachine } from './run-machine.ts';
import { RunStore } from './run-store.ts';
import { StageFunctions } from './stage-functions.ts';
import { createDeleteRole, grantDescribeExecutions, grantTableRights } from './stage-rights.ts';
import { parseTableLocations } from './table-location.ts';
import { TableSchedules } from './table-schedules.ts';

/**
 * A fleet that finds and deletes orphan files of Apache Iceberg tables: a state machine with its functions, run records, a
 * schedule per table, alarms and a dashboard. It deletes nothing until `dryRunByDefault` is false or an execution says so.
 */
export class OrphanCleanup extends Construct {
  readonly stateMachine: StateMachine;
  readonly workBucket: IBucket;
  readonly runTable: ITable;
  /** By stage; for alarms and permissions of your own. */
  readonly functions: Readonly<Record<FunctionName, LambdaFunction>>;
  /** The only role that may delete files of tables; undefined with `dryRunOnly`. */
  readonly deleteRole: Role | undefined;
  readonly dashboard: Dashboard | undefined;
  readonly #props: OrphanCleanupProps;
  readonly #service: string;
  readonly #roles: StageFunctions['roles'];
  readonly #tables: CleanupTableProps[] = [];
  readonly #entries: Record<string, DeploymentSetting> = {};
  readonly #schedules: TableSchedules;
  readonly #alarms: CleanupAlarms | undefined;

  constructor(scope: Construct, id: string, props: OrphanCleanupProps) {
    super(scope, id);
    // Consumers' apps may lack the flag, and without it every ResultWriter is dropped in silence.
    this.node.setContext('@aws-cdk/aws-stepfunctions:useDistributedMapResultWriterV2', true);
    this.#props = props;
    this.#service = props.serviceName ?? DEFAULT_SERVICE;
    // Wrong settings are told where they were written, not when the template is resolved.
    deploymentSettings(props, {});

    // CloudWatch Logs asks the key itself, in its own name.
    props.encryptionKey?.grantEncryptDecrypt(new ServicePrincipal(`logs.${Stack.of(this).region}.amazonaws.com`));

    const store = new RunStore(this, 'RunStore', {
      ...props,
      artefactRetention: props.artefactRetention ?? Duration.days(90),
    });
    this.workBucket = store.workBucket;
    this.runTable = store.runTable;
    const stages = this.#stages(store);
    this.functions = stages.functions;
    this.#roles = stages.roles;
    this.deleteRole = this.#rights(stages);
    this.stateMachine = this.#machine();
    // Step Functions itself reads the items of a map and writes its results.
    for (const key of store.keys) key.grantEncryptDecrypt(this.stateMachine);
    grantDescribeExecutions(this, stages.roles.plan, this.stateMachine);

    this.#schedules = new TableSchedules(this, 'Schedules', {
      stateMachine: this.stateMachine,
      window: props.scheduleWindow ?? Duration.hours(1),
      enabled: props.schedulesEnabled ?? true,
    });
    const deadLetterQueue = this.#schedules.deadLetterQueue;
    new OutsideEvents(this, 'Events', {
      stateMachine: this.stateMachine,
      record: this.functions.record,
      watch: this.functions.watch,
      deadLetterQueue,
    });
    this.#alarms = props.alarmsEnabled === false ? undefined : this.#createAlarms();
    this.dashboard = this.#createDashboard();
    new CleanupOutputs(this, 'Outputs', {
      stateMachine: this.stateMachine,
      store,
      readerRoles: Object.values(stages.roles).filter(
        (role) => role !== stages.roles.build && role !== stages.roles.watch,
      ),
      bucketPolicies: (props.bucketsOfOtherAccounts ?? []).map((bucket) => ({
        bucket,
        statements: this.bucketPolicyStatements(bucket),
      })),
      ...(this.dashboard === undefined ? {} : { dashboard: this.dashboard }),
      ...(this.deleteRole === undefined ? {} : { deleteRole: this.deleteRole }),
    });
    if (props.permissionsBoundary !== undefined) PermissionsBoundary.of(this).apply(props.permissionsBoundary);
    acknowledgeFindings(this);
    for (const table of props.tables ?? []) this.addTable(table);
  }

  /**
   * Adds a table with its schedule and its own settings. Throws an Error where the table is there twice, the schedule is no
   * valid expression, a setting is wrong, or two tables lie in each other.
   */
  addTable(table: CleanupTableProps): void {
    const faults = tableFaults(table, this.#tables, this.#props.olderThanFloor);
    if (faults.length > 0) throw new Error(`${this.node.path}: table ${table.table}: ${faults.join('; ')}`);
    this.#entries[table.table] = toDeploymentSetting(table, `${this.node.path}: table ${table.table}`);
    this.#tables.push(table);
    if (table.schedule === undefined) return;
    const place = new Construct(this.#schedules.nextStack(), constructId(table.table));
    this.#schedules.schedule(place, 'Schedule', table.table, table.schedule);
    if (!this.#onlyDryRuns(table)) this.#alarms?.addTable(place, 'NoSuccess', table.table);
  }

  /** Lets somebody start runs and follow them. */
  grantStart(grantee: IGrantable): Grant {
    const start = this.stateMachine.grantStartExecution(grantee);
    return start.combine(this.stateMachine.grantRead(grantee));
  }

  /** Lets somebody read records, reports and executions. */
  grantRead(grantee: IGrantable): Grant {
    const records = this.runTable.grantReadData(grantee);
    const artefacts = this.workBucket.grantRead(grantee, 'runs/*');
    return records.combine(artefacts).combine(this.stateMachine.grantRead(grantee));
  }

  /**
   * What the policy of a bucket must say that belongs to another account: exactly what the fleet's roles may do there. Throws
   * an Error for a bucket that is in none of the `tableLocations`.
   */
  bucketPolicyStatements(bucket: string): PolicyStatement[] {
    const locations = parseTableLocations(this.#props.tableLocations);
    return bucketPolicyStatements(bucket, locations, { functions: this.#roles, deleteRole: this.deleteRole });
  }

  /** A metric of the fleet, or with `table` of one table. */
  metric(name: MetricName, table?: string, options?: MetricOptions): Metric {
    return cleanupMetric(this.#service, name, table, options);
  }

  /** Orphan files that the latest runs found. */
  metricOrphanFiles(table?: string, options?: MetricOptions): Metric {
    return this.metric('OrphanFiles', table, { statistic: 'Maximum', ...options });
  }

  /** Bytes in orphan files that the latest runs found. */
  metricOrphanBytes(table?: string, options?: MetricOptions): Metric {
    return this.metric('OrphanBytes', table, { statistic: 'Maximum', ...options });
  }

  /** Files that runs deleted. */
  metricDeletedFiles(table?: string, options?: MetricOptions): Metric {
    return this.metric('DeletedFiles', table, options);
  }

  /** Bytes of the files that runs deleted. */
  metricDeletedBytes(table?: string, options?: MetricOptions): Metric {
    return this.metric('DeletedBytes', table, options);
  }

  /** Days since a table's last successful cleanup, once a day. */
  metricDaysSinceSuccess(table: string, options?: MetricOptions): Metric {
    return this.metric('DaysSinceSuccess', table, { statistic: 'Maximum', period: Duration.days(1), ...options });
  }

  #stages(store: RunStore): StageFunctions {
    const props = this.#props;
    const settings = new DeploymentLayer(this, 'Settings', () => deploymentSettings(props, this.#entries));
    const bus = props.eventBus?.eventBusArn ?? defaultBusArn(this);
    return new StageFunctions(this, 'Functions', {
      ...props,
      bundles: this.#bundles(),
      workBucket: store.workBucket,
      runTable: store.runTable,
      keys: store.keys,
      deployment: settings.reference,
      deploymentLayer: settings.layer,
      environments: { plan: { EVENT_BUS: bus }, record: { EVENT_BUS: bus } },
      eventBusArn: bus,
      serviceName: this.#service,
      logRetention: props.logRetention ?? RetentionDays.THREE_MONTHS,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.DESTROY,
    });
  }

  /** Tests of the construct and of the one-machine runtime bring functions of their own. */
  #bundles(): Bundles {
    const functionsDir: unknown = this.node.tryGetContext('icesweep:functions');
    return bundleFunctions(typeof functionsDir === 'string' ? { functionsDir } : {});
  }

  #rights(stages: StageFunctions): Role | undefined {
    const locations = parseTableLocations(this.#props.tableLocations);
    grantTableRights(stages.roles, locations, this.#props);
    const role = createDeleteRole(this, stages.roles.delete, locations, this.#props);
    if (role !== undefined) stages.functions.delete.addEnvironment('DELETE_ROLE_ARN', role.roleArn);
    return role;
  }

  #machine(): StateMachine {
    const { logRetention, removalPolicy, encryptionKey, executionTimeout } = this.#props;
    const logGroup = new LogGroup(this, 'RunLogs', {
      retention: logRetention ?? RetentionDays.THREE_MONTHS,
      removalPolicy: removalPolicy ?? RemovalPolicy.DESTROY,
      ...(encryptionKey === undefined ? {} : { encryptionKey }),
    });
    return new RunMachine(this, 'Run', {
      functions: this.functions,
      workBucket: this.workBucket,
      logGroup,
      ...(executionTimeout === undefined ? {} : { timeout: executionTimeout }),
    }).stateMachine;
  }

  #createAlarms(): CleanupAlarms {
    const { alarmTopic, daysWithoutSuccess } = this.#props;
    return new CleanupAlarms(this, 'Alarms', {
      service: this.#service,
      stateMachine: this.stateMachine,
      functions: Object.values(this.functions),
      deadLetterQueue: this.#schedules.deadLetterQueue,
      daysWithoutSuccess: daysWithoutSuccess ?? 8,
      ...(alarmTopic === undefined ? {} : { topic: alarmTopic }),
    });
  }

  #createDashboard(): Dashboard | undefined {
    if (this.#props.dashboardEnabled === false) return undefined;
    return new CleanupDashboard(this, 'Overview', {
      service: this.#service,
      recordLogs: this.functions.record.logGroup,
    }).dashboard;
  }

  /** No run of such a table counts as a cleanup, so that its alarm would never be silent. */
  #onlyDryRuns(table: CleanupTableProps): boolean {
    return this.#props.dryRunOnly === true || (table.dryRun ?? this.#props.dryRunByDefault ?? true);
  }
}

function defaultBusArn(scope: Construct): string {
  return Stack.of(scope).formatArn({ service: 'events', resource: 'event-bus', resourceName: 'default' });
}

/** An id that two tables never share, although it is read: `db.table` keeps its letters, what else it has is spelled out. */
function constructId(table: string): string {
  if (Token.isUnresolved(table)) throw new Error('The name of a table must be known at synthesis');
  return table.replace(/[^A-Za-z0-9_]/g, (sign) => (sign === '.' ? '-' : `~${sign.codePointAt(0)?.toString(16)}~`));
}
