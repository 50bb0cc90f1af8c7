import type { DeploymentSettings } from '#shared/run/deployment.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import type { DeploymentSetting } from '#shared/run/input-schema.ts';
import { toDeploymentSetting } from './cleanup-settings.ts';
import { CatalogType, type OrphanCleanupProps } from './orphan-cleanup-props.ts';

type Defined<Value> = { [Key in keyof Value]?: Exclude<Value[Key], undefined> };

function defined<Value extends object>(value: Value): Defined<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<Value>;
}

function catalogOf(props: OrphanCleanupProps): object {
  switch (props.catalogType ?? CatalogType.GLUE) {
    case CatalogType.GLUE:
      return defined({ type: 'glue', catalog_id: props.glueCatalogId, region: props.glueCatalogRegion });
    case CatalogType.PATH:
      return { type: 'path' };
    case CatalogType.REST:
      if (props.restCatalogUri === undefined) throw new Error('A REST catalog needs restCatalogUri');
      return defined({
        type: 'rest',
        uri: props.restCatalogUri,
        warehouse: props.restCatalogWarehouse,
        prefix: props.restCatalogPrefix,
        token_secret: props.restCatalogSecret?.secretName,
        oauth2_server_uri: props.restCatalogOauth2ServerUri,
        scope: props.restCatalogScope,
      });
  }
}

/** The deployment's level of the settings. Throws an Error that names each faulty prop. */
export function deploymentSettings(
  props: OrphanCleanupProps,
  tables: Readonly<Record<string, DeploymentSetting>>,
): DeploymentSettings {
  return parseDeployment({
    dry_run: props.dryRunByDefault ?? true,
    floor_ms: (props.olderThanFloor?.toHours() ?? 24) * 3_600_000,
    catalog: catalogOf(props),
    defaults: toDeploymentSetting(props, 'OrphanCleanup'),
    ceilings: defined({
      max_concurrent_deletes: props.maxConcurrentDeletesCeiling,
      delete_batch_size: props.deleteBatchSizeCeiling,
      least_delete_cooldown_seconds: props.leastDeleteCooldownSeconds,
      max_files_per_run: props.maxFilesPerRunCeiling,
      max_concurrent_scans: props.maxConcurrentScansCeiling,
      max_concurrent_lists: props.maxConcurrentListsCeiling,
    }),
    tables,
  });
}
