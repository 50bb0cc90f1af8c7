/** What became of a file that the pinned metadata names and that is gone: expired meanwhile, or lost (DESIGN section 2). */
import { createCatalog } from '#shared/catalog/catalog.ts';
import { TableChangedError } from '#shared/errors.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import type { Plan } from './plan.ts';
import { loadMetadata, manifestsOf } from './table-reader.ts';

export interface StillNamed {
  readonly named: boolean;
  /** The catalog's pointer is not the pinned file any more. */
  readonly pointerMoved: boolean;
}

/** Whether the metadata that the pointer names now still has a snapshot that names this manifest. */
export async function isManifestStillNamed(
  plan: Plan,
  manifestPath: string,
  ports: Pick<StagePorts, 'tables' | 'secrets'>,
): Promise<StillNamed> {
  const pointer = await createCatalog(plan.input, ports).currentMetadata();
  if (pointer.metadata_location === plan.pin.metadata_location) return { named: true, pointerMoved: false };
  const metadata = await loadMetadata(ports.tables, pointer.metadata_location, plan.identity);
  if (metadata === undefined) {
    throw new TableChangedError(`The table's metadata file ${pointer.metadata_location} does not exist any more.`, {
      next: 'The table was changed during the run; start a new one.',
    });
  }
  for (const snapshot of metadata.snapshots) {
    const manifests = await manifestsOf(ports.tables, snapshot, plan.identity);
    if (manifests === undefined || manifests.some((manifest) => manifest.manifestPath === manifestPath)) {
      return { named: true, pointerMoved: true };
    }
  }
  return { named: false, pointerMoved: true };
}
