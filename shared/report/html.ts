/**
 * HTML that is safe by construction: whatever is put into a template is escaped, and only what came out of a template is
 * taken as markup. Object names come from anyone who may write to a bucket.
 */
import { printable } from './format.ts';

/** Markup. Only {@link html} makes it, and {@link trusted} from our own constants. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Piece = Html | string | number | null | undefined | false | readonly Piece[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** Text as text, in an element or a quoted attribute. Control and direction-turning characters become visible escapes. */
export function escapeHtml(text: string): string {
  return printable(text).replace(/[&<>"'`]/g, (character) => ENTITIES[character] as string);
}

function render(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (piece === null || piece === undefined || piece === false) return '';
  return typeof piece === 'object' ? piece.map(render).join('') : escapeHtml(String(piece));
}

/** Tagged template: literal parts are markup, values are escaped. Attributes must be quoted. */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return new Html(parts.map((part, at) => part + render(values[at])).join(''));
}

/** Our own constant text as markup: styles, scripts, drawings. Never anything that was read. */
export function trusted(text: string): Html {
  return new Html(text);
}

/** A name that was read: isolated, so that right-to-left letters in it do not turn what stands beside it. */
export function name(text: string): Html {
  return html`<bdi class="name">${text}</bdi>`;
}
