/** Fitting text into the width of a terminal. */

/** Keeps the end of a long path, which tells files apart; `…` stands for what was cut. */
export function shortened(text: string, width: number): string {
  const characters = [...text];
  if (characters.length <= width) return text;
  return width <= 1 ? '…'.slice(0, width) : `…${characters.slice(characters.length - width + 1).join('')}`;
}

/** A number stays with its unit. */
function glued(text: string): string {
  return text.replace(/(\d) (?=[KMGTP]?i?B\b)/g, '$1\u00a0');
}

/** Breaks words at `width`; continuation lines start with `indent`. Words longer than a line stay whole. */
export function wrapped(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of glued(text)
    .split(/[ \t\n]+/)
    .filter((part) => part !== '')) {
    const start = lines.length === 0 ? '' : indent;
    if (line === '') line = start + word;
    else if ([...line].length + 1 + [...word].length <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  if (line !== '') lines.push(line);
  return lines.join('\n').replaceAll('\u00a0', ' ');
}

/** A label in its own column, the text wrapped beside it. */
export function labelled(label: string, text: string, labelWidth: number, width: number): string {
  const beside = wrapped(text, Math.max(20, width - labelWidth)).split('\n');
  return beside.map((line, at) => (at === 0 ? label : '').padEnd(labelWidth) + line).join('\n');
}

/** Rows of cells in columns two spaces apart; `right` names the columns that are aligned to the right. */
export function columns(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, [...cell].length);
  }
  return rows.map((row) =>
    row
      .map((cell, at) => {
        const pad = ' '.repeat((widths[at] ?? 0) - [...cell].length);
        return right.includes(at) ? pad + cell : cell + pad;
      })
      .join('  ')
      .trimEnd(),
  );
}
