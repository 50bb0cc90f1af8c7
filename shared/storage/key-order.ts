/** The order in which a store lists: by the bytes of UTF-8, which UTF-16 code units follow except around surrogates. */

/** Where surrogates sort: above every other unit, as their code points do in UTF-8. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Below zero, zero or above zero, as `Buffer.compare` on the UTF-8 bytes. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}
