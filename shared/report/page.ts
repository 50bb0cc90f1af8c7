/**
 * The shell of every page: one self-contained file. Its policy lets run exactly the style and the script that it carries
 * (by their hashes) and forbids everything else, the network first.
 */
import { createHash } from 'node:crypto';
import { type Html, html, type Piece, trusted } from './html.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';

export interface PageParts {
  readonly title: string;
  readonly body: Piece;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(PAGE_STYLE)}`,
  `script-src ${hashOf(PAGE_SCRIPT)}`,
  // The empty icon below: without it a browser asks the server for one.
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The whole document as text. */
export function renderPage(parts: PageParts): string {
  const page: Html = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${parts.title}</title>
<link rel="icon" href="data:,">
<style>${trusted(PAGE_STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${parts.body}
<script>${trusted(PAGE_SCRIPT)}</script>
</body>
</html>
`;
  return page.text;
}
