/** Registers an execution and lives on until it is killed. */
import { ExecutionRegister } from '#infra/local/machine/executions.ts';

new ExecutionRegister(process.argv[2] as string).start('stays', new Date().toISOString(), { table: 'db.t' });
process.send?.('started');
setInterval(() => {}, 1000);
