/** Compares keys by code points, as S3 sorts them: JavaScript's own order differs beyond U+FFFF. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return place(x) - place(y)
  }
  return a.length - b.length
}

/** Rank of a UTF-16 unit in the order of code points: surrogates rank highest. */
function place(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
