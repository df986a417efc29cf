/** Maximum fields of a record. A wider file has no preview. */
const MOST_FIELDS = 2000

const LATITUDE = /^(lat|latitude|y|lat_?deg)$/i
const LONGITUDE = /^(lon|lng|long|longitude|x|lon_?deg)$/i

/**
 * The first rows of a delimited text as points, if columns have names of latitudes and longitudes.
 *
 * @param isWhole false where the text is cut off: its last line is left out
 */
export function pointsIn(text: string, most: number, isWhole: boolean): readonly GeoJSON.Feature[] {
  const end = isWhole ? text.length : text.lastIndexOf('\n') + 1
  const records = recordsOf(text.slice(0, end))
  const { value: head = [] } = records.next()
  const x = head.findIndex((name) => LONGITUDE.test(name.trim()))
  const y = head.findIndex((name) => LATITUDE.test(name.trim()))
  const points: GeoJSON.Feature[] = []
  if (x < 0 || y < 0) return points
  for (const row of records) {
    const [lng, lat] = [degreesOf(row[x]), degreesOf(row[y])]
    if (Math.abs(lng) <= 180 && Math.abs(lat) <= 90) {
      const properties = Object.fromEntries(head.map((name, i) => [name.trim(), valueOf(row[i])]))
      points.push({ type: 'Feature', properties, geometry: { type: 'Point', coordinates: [lng, lat] } })
    }
    if (points.length === most) break
  }
  return points
}

/** Texts of numbers as numbers, except those with leading zeros, such as postal codes. */
function valueOf(text = ''): string | number | null {
  if (text === '') return null
  return /^-?(0|[1-9]\d{0,15})(\.\d{1,20})?$/.test(text) ? Number(text) : text
}

function degreesOf(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text.replace(',', '.'))
}

/** Fields by record. Quoted fields may contain delimiters, line ends, and doubled quotes. */
function* recordsOf(text: string): Generator<string[], undefined> {
  const delimiter = mostFrequent(text.slice(0, text.indexOf('\n') >>> 0))
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|$)`, 'y')
  field.lastIndex = text.startsWith('\uFEFF') ? 1 : 0
  let record: string[] = []
  while (field.lastIndex < text.length) {
    const match = field.exec(text)
    if (!match) break
    const [, quoted, plain = '', end = ''] = match
    record.push(quoted?.replaceAll('""', '"') ?? plain)
    if (record.length > MOST_FIELDS) return
    if (end !== '' && !/[\r\n]/.test(end)) continue
    yield record
    record = []
  }
  // The text ends with a delimiter.
  if (record.length > 0) yield [...record, '']
}

function mostFrequent(line: string): string {
  const counts = [',', ';', '\t', '|'].map((one) => [one, line.split(one).length] as const)
  const best = counts.reduce((a, b) => (b[1] > a[1] ? b : a))[0]
  return best === '|' ? '\\|' : best
}
