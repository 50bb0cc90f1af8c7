/**
 * Charts in plain SVG. Every number that a chart draws also stands as text in a table, so drawings are hidden from screen
 * readers and nothing depends on colour.
 */
import { humanBytes, humanCount } from './format.ts';
import { type Html, html, type Piece, trusted } from './html.ts';

export interface Slice {
  readonly label: Piece;
  readonly files: number;
  readonly bytes: number;
}

/** A bar of `part` of `whole`, drawn to the width of its cell. */
export function barSvg(part: number, whole: number, style: 'b1' | 'b2' = 'b1'): Html {
  const share = whole > 0 && Number.isFinite(part) ? Math.min(1, Math.max(0, part / whole)) : 0;
  const width = part > 0 ? Math.max(0.6, share * 100) : 0;
  return trusted(
    `<svg viewBox="0 0 100 7" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="${style}" width="${width.toFixed(2)}" height="7" rx="1"></rect></svg>`,
  );
}

/** Rows with files, size and a bar of the size (of the files where nothing has a size). */
export function sliceTable(caption: string, heading: string, slices: readonly Slice[]): Html {
  const byBytes = slices.some((slice) => slice.bytes > 0);
  const measure = (slice: Slice): number => (byBytes ? slice.bytes : slice.files);
  const most = Math.max(0, ...slices.map(measure));
  const rows = slices.map(
    (slice) =>
      html`<tr><th scope="row">${slice.label}</th><td class="n">${humanCount(slice.files)}</td><td class="n">${humanBytes(slice.bytes)}</td><td class="bar">${barSvg(measure(slice), most)}</td></tr>`,
  );
  return html`<div class="scroll"><table><caption>${caption}</caption><thead><tr><th scope="col">${heading}</th><th scope="col" class="n">files</th><th scope="col" class="n">size</th><td class="bar"></td></tr></thead><tbody>${rows}</tbody></table></div>`;
}

export interface Point {
  /** Under the axis. */
  readonly label: string;
  readonly value: number;
  readonly second?: number;
}

const WIDTH = 640;
const HEIGHT = 196;
const LEFT = 76;
const BOTTOM = 44;
const TOP = 10;

/** Two lines where one would run into its neighbours. */
function axisLabel(text: string, x: string): Html {
  const middle = text.length / 2;
  const spaces = [...text.matchAll(/ /g)].map(({ index }) => index);
  const [cut] = spaces.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  if (text.length <= 11 || cut === undefined) return html`${text}`;
  return html`${text.slice(0, cut)}<tspan x="${x}" dy="15">${text.slice(cut + 1)}</tspan>`;
}

/** Columns over time: `value` in full colour, `second` (a part of it that went) in front in the lighter one. */
export function columnChart(points: readonly Point[], words: (value: number) => string): Html {
  if (points.length === 0) return html``;
  const most = Math.max(1, ...points.map((point) => point.value));
  const step = (WIDTH - LEFT) / points.length;
  const plot = HEIGHT - TOP - BOTTOM;
  const y = (value: number): number => TOP + plot - (Math.max(0, value) / most) * plot;
  const every = Math.ceil(points.length / 8);
  const column = (value: number, at: number, style: string): Html => {
    const width = Math.min(48, step * 0.7);
    const x = LEFT + at * step + (step - width) / 2;
    const top = value > 0 ? Math.min(y(value), TOP + plot - 1) : TOP + plot;
    return trusted(
      `<rect class="${style}" x="${x.toFixed(1)}" y="${top.toFixed(1)}" width="${width.toFixed(1)}" height="${(TOP + plot - top).toFixed(1)}"></rect>`,
    );
  };
  const lines = [0, most / 2, most].map(
    (value) =>
      html`<line class="axis" x1="${LEFT}" x2="${WIDTH}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}"></line><text class="tick" x="${LEFT - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${words(value)}</text>`,
  );
  const labels = points.map((point, at) => {
    const x = (LEFT + at * step + step / 2).toFixed(1);
    return at % every === 0
      ? html`<text class="tick" x="${x}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${axisLabel(point.label, x)}</text>`
      : html``;
  });
  const columns = points.map((point, at) => [
    column(point.value, at, 'b1'),
    point.second !== undefined && column(point.second, at, 'b2'),
  ]);
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true" focusable="false">${lines}${columns}${labels}</svg>`;
}

/** A chart of points with the same numbers as a foldable table. */
export function chartWithTable(
  title: string,
  headings: readonly string[],
  points: readonly Point[],
  words: (value: number) => string,
): Html {
  const rows = points.map(
    (point) =>
      html`<tr><th scope="row">${point.label}</th><td class="n">${words(point.value)}</td>${point.second !== undefined && html`<td class="n">${words(point.second)}</td>`}</tr>`,
  );
  const head = headings.map((heading, at) => html`<th scope="col" class="${at === 0 ? '' : 'n'}">${heading}</th>`);
  return html`<figure aria-label="${title}"><div class="scroll" tabindex="0" role="group" aria-label="${title}, chart">${columnChart(points, words)}</div><details><summary class="small">${title} as a table</summary><div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div></details></figure>`;
}
