/** The axis of a coordinate: x is the longitude, y the latitude. */
export type Axis = 'x' | 'y'

const HEMISPHERES: Readonly<Record<string, { readonly sign: 1 | -1; readonly axis: Axis }>> = {
  N: { sign: 1, axis: 'y' },
  E: { sign: 1, axis: 'x' },
  S: { sign: -1, axis: 'y' },
  W: { sign: -1, axis: 'x' },
}
/** Longest text that is looked at. */
const LONGEST = 60
/** Marks of degrees, and parts of a number without any: digits alone may count blocks of streets, as in `150 S 300 E`. */
const MARK = /[°ºd]/
const PARTS = /\d[.,: ]\d/
/** Separators of two coordinates. */
const BESIDE = /^[ ,;/]{1,3}|[ ,;/]{1,3}$/g
/** Letters of a side are capitals: a small s marks seconds. The last part needs no mark, and seconds follow minutes. */
const MARKED =
  /^(?<before>[NSEW] ?)?(?<sign>[+-])?(?<degrees>\d{1,3}(?:[.,]\d{1,20})?) ?[°ºd] ?(?:(?<minutes>\d{1,2}(?:[.,]\d{1,20})?) ?(?:['′’m] ?(?:(?<seconds>\d{1,2}(?:[.,]\d{1,20})?) ?(?:(?:"|″|”|''|′′|s) ?)?)?)?)?(?<after>[NSEW])?$/
const BARE =
  /^(?<before>[NSEW] ?)?(?<degrees>\d{1,3}(?:[.,]\d{1,20})?)(?:[ :](?<minutes>\d{1,2}(?:[.,]\d{1,20})?)(?:[ :](?<seconds>\d{1,2}(?:[.,]\d{1,20})?))?)? ?(?<after>[NSEW])?$/

/**
 * The degrees of a coordinate in degrees, minutes and seconds, with marks, or with a letter for the side of the earth:
 * `48°08'14"N`, `N 48° 8.2'`, `33 52 10 S`, and the axis of the letter, null without one. Null for other texts, e.g.
 * with both a sign and a letter, or the letter O, which is east in German and west in French.
 */
export function degreesOfText(text: string): { readonly degrees: number; readonly axis: Axis | null } | null {
  if (text.length > LONGEST) return null
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  const marked = MARKED.exec(plain)?.groups
  const found = marked ?? BARE.exec(plain)?.groups
  const letter = (found?.['before'] ?? found?.['after'])?.trim()
  if (!found || (letter === undefined && !marked)) return null
  if (found['before'] !== undefined && found['after'] !== undefined) return null
  if (letter !== undefined && found['sign'] !== undefined) return null
  const [degrees, minutes, seconds] = [found['degrees'], found['minutes'], found['seconds']].map((part) =>
    Number((part ?? '0').replace(',', '.')),
  ) as [number, number, number]
  if (minutes >= 60 || seconds >= 60) return null
  const side = letter === undefined ? null : HEMISPHERES[letter]!
  const sign = side?.sign ?? (found['sign'] === '-' ? -1 : 1)
  return { degrees: sign * (degrees + minutes / 60 + seconds / 3600), axis: side?.axis ?? null }
}

/**
 * Both degrees of a text with two coordinates whose letters name their axes, in either order: `48°08'14"N 11°34'31"E`,
 * `N 48 8.2, E 11 34.5`. Null for any other text, such as a bearing with a distance: `S 88°45'12" W 120.5`.
 */
export function pairOfText(text: string): Readonly<Record<Axis, number>> | null {
  if (text.length > 2 * LONGEST || !/[NS]/.test(text) || !/[EW]/.test(text)) return null
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  for (let at = 1; at < plain.length; at++) {
    if (!/[NSEW ,;/]/.test(plain.slice(at - 1, at + 1))) continue
    const texts = [plain.slice(0, at), plain.slice(at)].map((part) => part.replaceAll(BESIDE, ''))
    const marked = texts.filter((part) => MARK.test(part)).length
    if (marked < 2 && (marked === 1 || !texts.every((part) => PARTS.test(part)))) continue
    const parts = texts.map(degreesOfText)
    const [x, y] = (['x', 'y'] as const).map((axis) => parts.find((part) => part?.axis === axis)?.degrees)
    if (x !== undefined && y !== undefined && Math.abs(x) <= 180 && Math.abs(y) <= 90) return { x, y }
  }
  return null
}
