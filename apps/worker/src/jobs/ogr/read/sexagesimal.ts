const HEMISPHERES: Readonly<Record<string, 1 | -1>> = { N: 1, E: 1, S: -1, W: -1 }
/** Longest text that is looked at. */
const LONGEST = 60
const MARKED =
  /^(?<before>[NSEW] ?)?(?<sign>[+-])?(?<degrees>\d{1,3}(?:[.,]\d{1,20})?) ?[°ºd] ?(?:(?<minutes>\d{1,2}(?:[.,]\d{1,20})?) ?['′’m] ?)?(?:(?<seconds>\d{1,2}(?:[.,]\d{1,20})?) ?(?:"|″|”|''|′′|s)? ?)?(?<after>[NSEW])?$/i
const BARE =
  /^(?<before>[NSEW] ?)?(?<degrees>\d{1,3}(?:[.,]\d{1,20})?)(?:[ :](?<minutes>\d{1,2}(?:[.,]\d{1,20})?))?(?:[ :](?<seconds>\d{1,2}(?:[.,]\d{1,20})?))? ?(?<after>[NSEW])?$/i

/**
 * The degrees of a coordinate in degrees, minutes and seconds, with marks, or with a letter for the side of the earth:
 * `48°08'14"N`, `N 48° 8.2'`, `33 52 10 S`. Null for any other text: O is
 * east in German and west in French.
 */
export function degreesOfText(text: string): number | null {
  if (text.length > LONGEST) return null
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  const marked = MARKED.exec(plain)?.groups
  const found = marked ?? BARE.exec(plain)?.groups
  const letter = (found?.['before'] ?? found?.['after'])?.trim().toUpperCase()
  if (!found || (letter === undefined && !marked)) return null
  if (found['before'] !== undefined && found['after'] !== undefined) return null
  const [degrees, minutes, seconds] = [found['degrees'], found['minutes'], found['seconds']].map((part) =>
    Number((part ?? '0').replace(',', '.')),
  ) as [number, number, number]
  if (minutes >= 60 || seconds >= 60) return null
  const sign = found['sign'] === '-' ? -1 : 1
  return sign * (letter === undefined ? 1 : HEMISPHERES[letter]!) * (degrees + minutes / 60 + seconds / 3600)
}
