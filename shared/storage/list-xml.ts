/**
 * A strict reader of the XML of a ListObjectsV2 answer. It knows that one document: what it does not expect is an error, never
 * a shorter page. Text is read to the last byte; entities are decoded, keys stay as encoded as the answer says.
 */
import { isUtf8 } from 'node:buffer';
import { StoreError } from './object-store.ts';

export interface RawListing {
  readonly IsTruncated: boolean;
  readonly KeyCount?: number;
  readonly EncodingType?: string;
  readonly NextContinuationToken?: string;
  readonly Contents: readonly RawObject[];
  readonly CommonPrefixes: readonly { readonly Prefix: string }[];
}

export interface RawObject {
  readonly Key: string;
  readonly Size: number;
  readonly LastModified: Date;
  readonly ETag: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function broken(what: string): StoreError {
  return new StoreError('Unavailable', `The listing cannot be read: ${what}.`);
}

/** What an object is made of, without attributes: nearly every tag of a page. Found by their first letter, without a slice. */
const PLAIN_NAMES = [
  'Contents',
  'Key',
  'LastModified',
  'ETag',
  'Size',
  'StorageClass',
  'ChecksumAlgorithm',
  'ChecksumType',
];
const PLAIN_TAGS: readonly (readonly { readonly name: string; readonly tag: string }[])[] = Array.from(
  { length: 128 },
  (_, unit) => PLAIN_NAMES.filter((name) => name.charCodeAt(0) === unit).map((name) => ({ name, tag: `<${name}>` })),
);
/**
 * One whole object as S3 and its likes write it. Matched at one blow, since every object of a page but the odd one is of this
 * form; whatever differs in a byte (an entity in the key, another order, a field twice) is read element by element.
 */
const USUAL_OBJECT =
  /<Contents><Key>([^<&]+)<\/Key><LastModified>([^<&]+)<\/LastModified><ETag>(?:&quot;|&#34;|")([^<&"]*)(?:&quot;|&#34;|")<\/ETag>(?:<ChecksumAlgorithm>[^<]*<\/ChecksumAlgorithm>)*(?:<ChecksumType>[^<]*<\/ChecksumType>)?<Size>(\d+)<\/Size>(?:<StorageClass>[^<]*<\/StorageClass>)?<\/Contents>/y;
const CLOSING = new Map(PLAIN_NAMES.map((name) => [name, `</${name}>`]));

function closingTag(name: string): string {
  return CLOSING.get(name) ?? `</${name}>`;
}

/** Reads one element after another; `null` is the end of the parent. */
class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Past white space, a declaration and the opening tag of the document. */
  open(name: string): void {
    const text = this.#text;
    this.#space();
    if (text.startsWith('<?', this.#at)) {
      const end = text.indexOf('?>', this.#at);
      if (end < 0) throw broken('its declaration does not end');
      this.#at = end + 2;
      this.#space();
    }
    const end = text.indexOf('>', this.#at);
    const tag = end < 0 ? '' : text.slice(this.#at, end);
    if (tag !== `<${name}` && !tag.startsWith(`<${name} `))
      throw broken(`it begins with ${JSON.stringify(text.slice(0, 60))}`);
    if (tag.endsWith('/')) throw broken('it is empty');
    this.#at = end + 1;
  }

  /** The object that begins here, where it has the usual form. */
  usualObject(): RawObject | undefined {
    USUAL_OBJECT.lastIndex = this.#at;
    const match = USUAL_OBJECT.exec(this.#text);
    if (match === null) return undefined;
    this.#at = USUAL_OBJECT.lastIndex;
    const [, key, modified, etag, size] = match as unknown as [string, string, string, string, string];
    return { Key: key, Size: Number(size), LastModified: new Date(Date.parse(modified)), ETag: `"${etag}"` };
  }

  /** The name of the next child, or null at the parent's closing tag, which is consumed. */
  child(parent: string): string | null {
    const text = this.#text;
    this.#space();
    for (const { name, tag } of PLAIN_TAGS[text.charCodeAt(this.#at + 1)] ?? []) {
      if (!text.startsWith(tag, this.#at)) continue;
      this.#at += tag.length;
      return name;
    }
    if (text[this.#at] !== '<') throw broken(`text where an element of ${parent} should be`);
    const end = text.indexOf('>', this.#at);
    if (end < 0) throw broken(`${parent} does not end`);
    if (text[this.#at + 1] === '/') {
      if (text.slice(this.#at + 2, end).trimEnd() !== parent) throw broken(`${parent} is closed by another tag`);
      this.#at = end + 1;
      return null;
    }
    const name = text.slice(this.#at + 1, end);
    this.#at = end + 1;
    // With an attribute or a space it would match no known name, and its object be passed over.
    if (/^(?:Contents|CommonPrefixes|Key|Prefix|Size|LastModified|ETag)[\s/]/.test(name))
      throw broken(`the tag <${name}>`);
    return name;
  }

  /** The text of a child whose opening tag was just read. */
  value(name: string): string {
    if (name.endsWith('/')) return '';
    const text = this.#text;
    const end = text.indexOf('<', this.#at);
    if (end < 0 || !text.startsWith(closingTag(name), end)) throw broken(`${name} is not closed`);
    const raw = text.slice(this.#at, end);
    this.#at = end + name.length + 3;
    const reference = raw.indexOf('&');
    if (reference < 0) return raw;
    // Every ETag is of this form: the general way would take a fifth of a page's time for them alone.
    const quoted = reference === 0 && raw.length >= 12 && raw.indexOf('&', 1) === raw.length - 6;
    if (quoted && raw.startsWith('&quot;') && raw.endsWith('&quot;')) return `"${raw.slice(6, -6)}"`;
    return decodeEntities(raw);
  }

  /** Passes over a child of any shape. */
  skip(tag: string): void {
    if (tag.endsWith('/')) return;
    const name = CLOSING.has(tag) ? tag : (tag.split(/\s/, 1)[0] as string);
    const end = this.#text.indexOf(closingTag(name), this.#at);
    if (end < 0) throw broken(`${name} is not closed`);
    this.#at = end + name.length + 3;
  }

  end(): void {
    this.#space();
    if (this.#at !== this.#text.length) throw broken('something follows its end');
  }

  #space(): void {
    while (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) <= 0x20) this.#at++;
    if (this.#at === 0 && this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
  }
}

function decodeEntities(raw: string): string {
  return raw.replace(/&([^;&]*);?/g, (whole, name: string) => {
    if (!whole.endsWith(';')) throw broken(`the reference ${JSON.stringify(whole)} does not end`);
    const known = ENTITIES[name];
    if (known !== undefined) return known;
    const code = /^#(?:x([0-9a-fA-F]+)|(\d+))$/.exec(name);
    const point =
      code === null ? Number.NaN : Number.parseInt(code[1] ?? (code[2] as string), code[1] === undefined ? 10 : 16);
    if (!(point >= 0 && point <= 0x10ffff)) throw broken(`the reference ${JSON.stringify(whole)} is not known`);
    return String.fromCodePoint(point);
  });
}

export function parseListing(body: Uint8Array): RawListing {
  // Replacement characters would make another key of it.
  if (!isUtf8(body)) throw broken('its bytes are no UTF-8');
  const cursor = new Cursor(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  cursor.open('ListBucketResult');
  const fields = new Map<string, string>();
  const contents: RawObject[] = [];
  const prefixes: { Prefix: string }[] = [];
  for (;;) {
    const usual = cursor.usualObject();
    if (usual !== undefined) {
      contents.push(usual);
      continue;
    }
    const name = cursor.child('ListBucketResult');
    if (name === null) break;
    if (name === 'Contents') contents.push(readObject(cursor));
    else if (name === 'CommonPrefixes') prefixes.push(readPrefix(cursor));
    else if (SIMPLE.has(name.replace(/\/$/, ''))) {
      const plain = name.replace(/\/$/, '');
      if (fields.has(plain)) throw broken(`${plain} stands twice`);
      fields.set(plain, cursor.value(name));
    } else cursor.skip(name);
  }
  cursor.end();
  return finish(fields, contents, prefixes);
}

const SIMPLE = new Set(['IsTruncated', 'KeyCount', 'EncodingType', 'NextContinuationToken']);

function finish(
  fields: ReadonlyMap<string, string>,
  contents: readonly RawObject[],
  prefixes: readonly { readonly Prefix: string }[],
): RawListing {
  const truncated = fields.get('IsTruncated');
  if (truncated !== 'true' && truncated !== 'false') throw broken('IsTruncated is not said');
  const count = fields.get('KeyCount');
  const token = fields.get('NextContinuationToken');
  const encoding = fields.get('EncodingType');
  if (count !== undefined && Number(count) !== contents.length + prefixes.length) {
    throw broken(`it promises ${count} keys and has ${contents.length + prefixes.length}`);
  }
  return {
    IsTruncated: truncated === 'true',
    Contents: contents,
    CommonPrefixes: prefixes,
    ...(count === undefined ? {} : { KeyCount: Number(count) }),
    ...(token === undefined || token === '' ? {} : { NextContinuationToken: token }),
    ...(encoding === undefined || encoding === '' ? {} : { EncodingType: encoding }),
  };
}

function readObject(cursor: Cursor): RawObject {
  let key: string | undefined;
  let size: number | undefined;
  let modified: number | undefined;
  let etag: string | undefined;
  for (let name = cursor.child('Contents'); name !== null; name = cursor.child('Contents')) {
    if (name === 'Key') key = once(key, cursor.value(name), name);
    else if (name === 'Size') size = once(size, readSize(cursor.value(name)), name);
    else if (name === 'LastModified') modified = once(modified, Date.parse(cursor.value(name)), name);
    else if (name === 'ETag') etag = once(etag, cursor.value(name), name);
    else cursor.skip(name);
  }
  if (key === undefined) throw broken('an object has no key');
  return { Key: key, Size: size ?? Number.NaN, LastModified: new Date(modified ?? Number.NaN), ETag: etag ?? '' };
}

/** The value, unless there is one already: which of two holds is not ours to choose. */
function once<T>(earlier: T | undefined, value: T, name: string): T {
  if (earlier !== undefined) throw broken(`${name} stands twice in one entry`);
  return value;
}

function readSize(text: string): number {
  if (!/^\d+$/.test(text)) throw broken(`an object has the size ${JSON.stringify(text)}`);
  return Number(text);
}

function readPrefix(cursor: Cursor): { Prefix: string } {
  let prefix: string | undefined;
  for (let name = cursor.child('CommonPrefixes'); name !== null; name = cursor.child('CommonPrefixes')) {
    if (name === 'Prefix') prefix = once(prefix, cursor.value(name), name);
    else cursor.skip(name);
  }
  if (prefix === undefined) throw broken('a common prefix is empty');
  return { Prefix: prefix };
}
