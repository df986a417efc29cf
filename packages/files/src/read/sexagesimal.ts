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
