/** The little XML that the embedded server writes and reads. */

export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** `<Name>text</Name>` for each pair whose value is present. */
export function elements(values: Readonly<Record<string, string | number | boolean | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<${name}>${escapeXml(String(value))}</${name}>`)
    .join('');
}

export function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(amp|lt|gt|quot|apos));/g, (_, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number.parseInt(decimal, 10));
    return { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }[name as string] as string;
  });
}

/** Texts of every `<name>` in a document, one level, in order. */
export function textsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^]*?)</${name}>`, 'g'))].map(([, text]) => text as string);
}

/** S3's own form encoding of keys: space is `+`, plus is `%2B`, `/` stays. */
export function formEncode(key: string): string {
  return encodeURIComponent(key)
    .replace(/%20/g, '+')
    .replace(/%2F/g, '/')
    .replace(/[!'()*]/g, (character) =>
      character === '*' ? '*' : `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
}
