import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE } from '#shared/runtime/metric-names.ts';
import type { MetricName } from '#shared/runtime/stage-ports.ts';

/** A metric of the fleet, or of one table of it. */
export function cleanupMetric(service: string, name: MetricName, table?: string, options: MetricOptions = {}): Metric {
  return new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { service, ...(table === undefined ? {} : { Table: table }) },
    statistic: Stats.SUM,
    period: Duration.minutes(5),
    ...options,
  });
}
