/** A metadata file that the operator names. What its folder shows beside it is as good as a later pointer, and protects too. */
import { TableNotFoundError } from '#shared/errors.ts';
import { isMetadataJsonName } from '#shared/iceberg/metadata-names.ts';
import { locateReference, recordedPath } from '#shared/identity/references.ts';
import type { IdentityRules } from '#shared/identity/types.ts';
import { identityRules } from '#shared/run/input-identity.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { Catalog, CurrentPointer } from './catalog.ts';
import { askUpward, type Candidate, candidateOf, fileName } from './metadata-folder.ts';
import { headObject, listWhole } from './table-objects.ts';

export class ExplicitFileCatalog implements Catalog {
  readonly #location: string;
  readonly #store: ObjectStore;
  readonly #rules: IdentityRules;

  constructor(input: ResolvedInput, location: string, store: ObjectStore) {
    this.#location = location;
    this.#store = store;
    this.#rules = identityRules(input, input.table);
  }

  async currentMetadata(): Promise<CurrentPointer> {
    const { bucket, key } = locateReference(this.#location, this.#rules);
    const head = await headObject(this.#store, bucket, key);
    if (head === undefined) {
      throw new TableNotFoundError(`There is no metadata file ${this.#location} (s3://${bucket}/${key}).`);
    }
    const prefix = key.slice(0, key.lastIndexOf('/') + 1);
    const { objects } = await listWhole(this.#store, { bucket, prefix, delimiter: '/' });
    const own = candidateOf(key);
    const later =
      own === undefined
        ? objects.filter(
            (object) => isMetadataJsonName(fileName(object.key)) && !(object.lastModifiedMs < head.lastModifiedMs),
          )
        : objects.filter((object) => isLaterThan(own, candidateOf(object.key)));
    const keys = later.map((object) => object.key).filter((each) => each !== key);
    return this.#pointer(bucket, prefix, key, keys);
  }

  async reread(previous: CurrentPointer): Promise<CurrentPointer> {
    const view = previous.folder;
    if (view === undefined || view.version === '') return this.currentMetadata();
    if ((await headObject(this.#store, view.bucket, view.last)) === undefined) return this.currentMetadata();
    const { key } = locateReference(this.#location, this.#rules);
    const own = candidateOf(key);
    const fresh = (await askUpward(this.#store, view, new Set(view.newest))).filter(
      (candidate) => own === undefined || isLaterThan(own, candidate),
    );
    if (fresh.length === 0) return previous;
    const keys = [...view.newest, ...fresh.map((candidate) => candidate.key)].filter((each) => each !== key);
    return this.#pointer(view.bucket, view.prefix, key, keys);
  }

  #pointer(bucket: string, prefix: string, key: string, others: readonly string[]): CurrentPointer {
    const all = [key, ...others].map(candidateOf).filter((candidate) => candidate !== undefined);
    const last = all.reduce<Candidate | undefined>(
      (most, each) => (most === undefined || each.name.version > most.name.version ? each : most),
      undefined,
    );
    return {
      metadata_location: this.#location,
      further: [...others].sort().map((other) => recordedPath(bucket, other, this.#rules)),
      claims: { gc_enabled: [] },
      folder: {
        bucket,
        prefix,
        version: candidateOf(key) === undefined || last === undefined ? '' : last.name.version.toString(),
        newest: [key, ...others].sort(),
        last: last?.key ?? key,
      },
    };
  }
}

/** Of the explicit file's own name form, and of its version or a higher one. */
function isLaterThan(own: Candidate, other: Candidate | undefined): other is Candidate {
  return other !== undefined && other.name.form === own.name.form && other.name.version >= own.name.version;
}
