/** Signs of another table format on the same files: its log names files that Iceberg metadata does not (FF-06). */
import { hasMarkedComponent } from './file-class.ts';

/** Lower-case names of the folders in which the formats keep their logs and snapshots. */
const COMPONENTS = new Set([
  '_delta_log',
  '.hoodie',
  '_hudi',
  '_paimon',
  '_ducklake',
  '_lance',
  '_versions',
  '_xtable',
  '.hudi',
]);

/** Whether a key, relative to its root, has such a component. */
export function isOfOtherFormat(relative: string): boolean {
  if (!hasMarkedComponent(relative)) return false;
  return relative.split('/').some((component) => COMPONENTS.has(component.toLowerCase()));
}
