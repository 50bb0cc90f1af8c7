/**
 * The table as the catalog shows it during the scan: asked only when a manifest does not come, to tell one that expired
 * meanwhile from one that is lost.
 */
import {
  type Catalog,
  type CurrentPointer,
  createCatalog,
  pointerLocations,
  samePointer,
} from '#shared/catalog/catalog.ts';
import { TableChangedError } from '#shared/errors.ts';
import { foldReference } from '#shared/identity/fold-key.ts';
import type { Plan } from '#shared/run/plan.ts';
import { loadMetadata, manifestsOfAll } from '#shared/run/table-reader.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';

type Ports = Pick<StagePorts, 'tables' | 'secrets'>;

export class CurrentTable {
  readonly #plan: Plan;
  readonly #ports: Ports;
  readonly #catalog: Catalog;
  /** Of one invocation, and only as long as the pointer stays: an expiry may take thousands of manifests at once. */
  #known: { readonly pointer: CurrentPointer; readonly manifests: ReadonlySet<string> } | undefined;

  constructor(plan: Plan, ports: Ports) {
    this.#plan = plan;
    this.#ports = ports;
    this.#catalog = createCatalog(plan.input, ports);
  }

  /** The pointer, read again, is not the pinned one any more. */
  async hasMoved(): Promise<boolean> {
    return !samePointer(await this.#catalog.currentMetadata(), this.#plan.pointer);
  }

  /** Whether a manifest is named by a snapshot of the metadata that the pointer names now. */
  async names(manifestPath: string): Promise<boolean> {
    const pointer = await this.#catalog.currentMetadata();
    // The pinned metadata names it: that is where the plan has it from.
    if (samePointer(pointer, this.#plan.pointer)) return true;
    if (this.#known === undefined || !samePointer(this.#known.pointer, pointer)) {
      this.#known = { pointer, manifests: await this.#read(pointer) };
    }
    return this.#known.manifests.has(this.#fold(manifestPath));
  }

  async #read(pointer: CurrentPointer): Promise<ReadonlySet<string>> {
    const manifests = new Set<string>();
    for (const location of pointerLocations(pointer)) {
      const metadata = await loadMetadata(this.#ports.tables, location, this.#plan.identity);
      if (metadata === undefined) throw changed(`Its metadata file ${location} is gone already.`);
      const named = await manifestsOfAll(this.#ports.tables, metadata.snapshots, this.#plan.identity);
      for (const path of named.keys()) manifests.add(this.#fold(path));
    }
    return manifests;
  }

  #fold(path: string): string {
    return foldReference(path, this.#plan.identity.ignoreCase);
  }
}

/** The next run can follow what this one cannot. */
export function changed(what: string, cause?: unknown): TableChangedError {
  return new TableChangedError(`The table was changed during the run. ${what}`, {
    next: 'Start a new run.',
    ...(cause === undefined ? {} : { cause }),
  });
}
