/** Orphans by folder as a tree that folds, largest first. Folders with a single child are shown as one line. */
import { humanBytes, humanCount } from '#shared/report/format.ts';
import { type Html, html, name } from '#shared/report/html.ts';
import type { NamedTally } from './report-view.ts';

interface Node {
  readonly label: string;
  files: number;
  bytes: number;
  readonly children: Map<string, Node>;
}

const MAX_DEPTH = 8;
const MAX_CHILDREN = 40;

function newNode(label: string): Node {
  return { label, files: 0, bytes: 0, children: new Map() };
}

function buildTree(prefixes: readonly NamedTally[]): Node {
  const root = newNode('');
  for (const prefix of prefixes) {
    const parts = prefix.name === '' ? ['(elsewhere)'] : prefix.name.split(/(?<=[^/:]\/)(?=.)/).slice(0, MAX_DEPTH);
    let node = root;
    for (const part of ['', ...parts]) {
      if (part !== '') {
        const child = node.children.get(part) ?? newNode(part);
        node.children.set(part, child);
        node = child;
      }
      node.files += prefix.files;
      node.bytes += prefix.bytes;
    }
  }
  return root;
}

/** `a/` with the only child `b/` of the same size reads as `a/b/`. */
function joined(node: Node): Node {
  const [only] = node.children.values();
  if (node.children.size !== 1 || only === undefined || only.files !== node.files) return node;
  return joined({ ...only, label: node.label + only.label });
}

function sum(node: Node): Html {
  return html`<span class="sum">${humanCount(node.files)} files, ${humanBytes(node.bytes)}</span>`;
}

function render(unjoined: Node, open: boolean): Html {
  const node = joined(unjoined);
  if (node.children.size === 0) return html`<div class="leaf">${name(node.label)} ${sum(node)}</div>`;
  const children = [...node.children.values()].sort((a, b) => b.bytes - a.bytes || b.files - a.files);
  const hidden = children.length - MAX_CHILDREN;
  const summary = html`<summary>${name(node.label)} ${sum(node)}</summary>`;
  const inside = html`${children.slice(0, MAX_CHILDREN).map((child) => render(child, false))}${hidden > 0 && html`<div class="leaf soft">and ${humanCount(hidden)} smaller folders</div>`}`;
  return open ? html`<details open>${summary}${inside}</details>` : html`<details>${summary}${inside}</details>`;
}

/** The tree; its first level is open. */
export function prefixTree(prefixes: readonly NamedTally[]): Html {
  const root = buildTree(prefixes);
  const tops = [...root.children.values()].sort((a, b) => b.bytes - a.bytes || b.files - a.files);
  return html`${tops.map((top) => render(top, true))}`;
}
