import { Duration, Stack } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { METRIC_NAMESPACE } from '#shared/runtime/metric-names.ts';
import type { MetricName } from '#shared/runtime/stage-ports.ts';
import { cleanupMetric } from './cleanup-metrics.ts';

export interface CleanupDashboardProps {
  readonly service: string;
  /** Logs of the record function: one line per run. */
  readonly recordLogs: ILogGroup;
}

/** Four rows: waste now, last runs, throughput, and what it costs in requests. */
export class CleanupDashboard extends Construct {
  readonly dashboard: Dashboard;
  readonly #service: string;

  constructor(scope: Construct, id: string, props: CleanupDashboardProps) {
    super(scope, id);
    this.#service = props.service;
    this.dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.days(14) });
    this.dashboard.addWidgets(
      this.#byTable('Orphan bytes by table', 'OrphanBytes'),
      this.#byTable('Orphan files by table', 'OrphanFiles'),
    );
    this.dashboard.addWidgets(
      new LogQueryWidget({
        title: 'Last runs',
        logGroupNames: [props.recordLogs.logGroupName],
        view: LogQueryVisualizationType.TABLE,
        queryLines: [
          "filter message = 'Run recorded'",
          'fields @timestamp, table, verdict, orphans, deleted, run_id',
          'sort @timestamp desc',
          'limit 50',
        ],
        width: 24,
        height: 8,
      }),
    );
    this.dashboard.addWidgets(
      this.#fleet('Deleted', ['DeletedFiles', 'DeletedBytes']),
      this.#fleet('Throttles and failures', ['DeleteThrottles', 'DeleteFailures']),
    );
    this.dashboard.addWidgets(
      this.#fleet('Work', ['ObjectsListed', 'ManifestsScanned', 'ReferencedFiles']),
      this.#fleet('Runs', ['RunsSucceeded', 'RunsPartial', 'RunsSkipped', 'RunsRefused', 'RunsFailed', 'RunsAborted']),
    );
  }

  /** One line per table, found by search, so that tables come and go without a deployment. */
  #byTable(title: string, name: MetricName): GraphWidget {
    const where = `{${METRIC_NAMESPACE},service,Table} MetricName="${name}" service="${this.#service}"`;
    return new GraphWidget({
      title,
      width: 12,
      left: [
        new MathExpression({
          expression: `SEARCH('${where}', 'Maximum', 86400)`,
          searchRegion: Stack.of(this).region,
          period: Duration.days(1),
          label: '',
        }),
      ],
    });
  }

  #fleet(title: string, names: readonly MetricName[]): GraphWidget {
    return new GraphWidget({
      title,
      width: 12,
      left: names.map((name) =>
        cleanupMetric(this.#service, name, undefined, { statistic: Stats.SUM, period: Duration.hours(1) }),
      ),
    });
  }
}
