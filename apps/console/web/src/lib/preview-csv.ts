const LATITUDE = /^(lat|latitude|y|lat_?deg)$/i
const LONGITUDE = /^(lon|lng|long|longitude|x|lon_?deg)$/i

/**
 * The rows of a delimited text as points, at most so many, where columns are named as latitudes and longitudes are.
 *
 * @param isWhole false where the text is cut off: its last line is left out
 */
export function pointsIn(text: string, most: number, isWhole: boolean): readonly GeoJSON.Feature[] {
  const lines = recordsOf(text)
  const [head = []] = lines
  const x = head.findIndex((name) => LONGITUDE.test(name.trim()))
  const y = head.findIndex((name) => LATITUDE.test(name.trim()))
  if (x < 0 || y < 0) return []
  return lines
    .slice(1, isWhole ? undefined : -1)
    .slice(0, most)
    .flatMap((row) => {
      const [lng, lat] = [degreesOf(row[x]), degreesOf(row[y])]
      if (!(Math.abs(lng) <= 180 && Math.abs(lat) <= 90)) return []
      const properties = Object.fromEntries(head.map((name, i) => [name, row[i] ?? '']))
      return [{ type: 'Feature', properties, geometry: { type: 'Point', coordinates: [lng, lat] } }]
    })
}

function degreesOf(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text.replace(',', '.'))
}

/** Fields by record. Quoted fields may hold delimiters, line ends, and quotes that are doubled. */
function recordsOf(text: string): string[][] {
  const delimiter = mostFrequent(text.slice(0, text.indexOf('\n') >>> 0))
  const records: string[][] = [[]]
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|$)`, 'y')
  field.lastIndex = text.startsWith('﻿') ? 1 : 0
  while (field.lastIndex < text.length) {
    const match = field.exec(text)
    if (!match) break
    const [, quoted, plain = '', end = ''] = match
    records.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end !== delimiter && field.lastIndex < text.length) records.push([])
  }
  return records
}

function mostFrequent(line: string): string {
  const counts = [',', ';', '\t', '|'].map((one) => [one, line.split(one).length] as const)
  const best = counts.reduce((a, b) => (b[1] > a[1] ? b : a))[0]
  return best === '|' ? '\\|' : best
}
