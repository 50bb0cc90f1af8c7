/** Where a candidate is shown in the report: the root and the partition folders in its key, hashed folders left out. */
export function reportPrefix(key: string, rootPrefix: string): string {
  const folders = key.slice(rootPrefix.length).split('/').slice(0, -1);
  const partitions = folders.filter((folder) => /^[^=]+=/.test(folder));
  return partitions.length === 0 ? rootPrefix : `${rootPrefix}${partitions.join('/')}/`;
}
