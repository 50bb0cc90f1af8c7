"""Writes tables with PyIceberg, or reads tables with it, and prints what they reference.

usage: pyiceberg_tables.py write FOLDER | pyiceberg_tables.py read METADATA_FILE...
Prints one JSON line per table: {"name", "metadata", "references", "deleted"}.
"""
import json
import sys

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "p q", StringType(), required=False))
SPEC = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "p q"))


def rows(*pairs):
    return pa.table({"id": pa.array([i for i, _ in pairs], pa.int64()), "p q": pa.array([s for _, s in pairs], pa.string())})


def tables(catalog):
    for version in ("1", "2"):
        table = catalog.create_table(f"ns.plain_v{version}", SCHEMA, properties={"format-version": version})
        table.append(rows((1, "a"), (2, "b")))
        table.append(rows((3, "c")))
        table.overwrite(rows((4, "d")))
        yield table
        odd = catalog.create_table(f"ns.odd_v{version}", SCHEMA, partition_spec=SPEC, properties={"format-version": version})
        odd.append(rows((1, "a b"), (2, "x/y"), (3, "100% #?&+=:é"), (4, None)))
        odd.delete("id = 2")
        first = odd.metadata.snapshots[0].snapshot_id
        odd.manage_snapshots().create_tag(first, "first tag").create_branch(first, "audit").commit()
        odd.append(rows((5, "e")))
        odd.update_spec().add_field("id", IdentityTransform(), "id part").commit()
        odd.append(rows((6, "f")))
        yield odd
    merged = catalog.create_table(
        "ns.merged", SCHEMA, properties={"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"}
    )
    for i in range(4):
        merged.append(rows((i, "m")))
    merged.maintenance.expire_snapshots().by_id(merged.metadata.snapshots[0].snapshot_id).commit()
    yield merged
    yield catalog.create_table("ns.empty", SCHEMA)


def describe(name, table):
    references = {table.metadata_location} | {entry.metadata_file for entry in table.metadata.metadata_log}
    references |= {item.statistics_path for item in table.metadata.statistics}
    references |= {item.statistics_path for item in table.metadata.partition_statistics}
    deleted = set()
    for snapshot in table.metadata.snapshots:
        references.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            references.add(manifest.manifest_path)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
                (deleted if entry.status == 2 else references).add(entry.data_file.file_path)
    print(json.dumps({"name": name, "metadata": table.metadata_location, "references": sorted(references), "deleted": sorted(deleted)}))


def main():
    if sys.argv[1] == "read":
        for path in sys.argv[2:]:
            describe(path, StaticTable.from_metadata(path))
        return
    folder = sys.argv[2]
    catalog = SqlCatalog("test", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("ns")
    for table in tables(catalog):
        describe(".".join(table.name()), table)


main()
