/** The cold path: synthesizes the stack offline. Loads CDK, so it is only imported where no earlier synthesis fits. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { OrphanCleanup } from '#infra/constructs/orphan-cleanup.ts';
import { CatalogType } from '#infra/constructs/orphan-cleanup-props.ts';
import { resolveTemplate } from './resolve-template.ts';
import type { MachineFile } from './types.ts';

export interface SynthesisOptions {
  readonly outdir: string;
  readonly functionsDir?: string;
}

/** Synthesizes the deployment's state machine into `outdir` and reads it back. No network, no CDK command line. */
export function synthesizeMachine(options: SynthesisOptions): MachineFile {
  const app = new App({
    outdir: options.outdir,
    analyticsReporting: false,
    context: {
      'aws:cdk:enable-asset-metadata': true,
      'aws:cdk:enable-path-metadata': true,
      ...(options.functionsDir === undefined ? {} : { 'icesweep:functions': options.functionsDir }),
    },
  });
  const stack = new Stack(app, 'Icesweep');
  // What is granted does not matter here: nothing of it is deployed.
  new OrphanCleanup(stack, 'Cleanup', {
    tableLocations: ['s3://tables/'],
    catalogType: CatalogType.PATH,
    alarmsEnabled: false,
  });
  const assembly = app.synth();
  const template = JSON.parse(readFileSync(join(options.outdir, stack.templateFile), 'utf8')) as Record<
    string,
    unknown
  >;
  return resolveTemplate(template, assembly.directory);
}
