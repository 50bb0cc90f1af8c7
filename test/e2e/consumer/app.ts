import { App, Stack } from 'aws-cdk-lib';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { OrphanCleanup } from 'icesweep';

const app = new App({ outdir: 'cdk.out' });
const stack = new Stack(app, 'Lake');
const cleanup = new OrphanCleanup(stack, 'Cleanup', { tableLocations: ['s3://lake/warehouse/'] });
const sundays = ScheduleExpression.expression('cron(0 3 ? * SUN *)');
cleanup.addTable({ table: 'sales.orders', schedule: sundays });
app.synth();
