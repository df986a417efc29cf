const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const dateTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const counted = new Intl.NumberFormat('en')

/** `3 minutes ago`. */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = Math.round((new Date(iso).getTime() - now) / 1000)
  const size = Math.abs(seconds)
  if (size < 45) return 'just now'
  if (size < 2700) return relative.format(Math.round(seconds / 60), 'minute')
  if (size < 79_200) return relative.format(Math.round(seconds / 3600), 'hour')
  return relative.format(Math.round(seconds / 86_400), 'day')
}

export function formatDateTime(iso: string): string {
  return dateTime.format(new Date(iso))
}

export function formatClock(iso: string | number): string {
  return clock.format(new Date(iso))
}

export function formatNumber(value: number): string {
  return counted.format(value)
}

/**
 * `5,163 – 18,081`, or one number when both are equal.
 *
 * @param all smallest and largest of the numbers that are shown together; the digits suffice for a thousandth of their
 * range
 */
export function formatRange(from: number, to: number, all: readonly [number, number]): string {
  const spread = all[1] - all[0] || Math.abs(from)
  const digits = spread === 0 ? 0 : Math.min(12, Math.max(0, 3 - Math.floor(Math.log10(spread))))
  const format = new Intl.NumberFormat('en', { maximumFractionDigits: digits })
  return from === to ? format.format(from) : `${format.format(from)} – ${format.format(to)}`
}

/** Fields with identifiers: their digits are not grouped. */
const CODES: ReadonlySet<string> = new Set(['srid', 'epsg', 'id'])

/** A formatted value of a record; `name` is its field. */
export function formatFact(name: string, value: unknown): string {
  return typeof value === 'number' && !CODES.has(name.toLowerCase()) ? formatNumber(value) : String(value)
}

/** `1 row`, `1,432 rows`. */
export function formatRows(count: number): string {
  return `${formatNumber(count)} ${count === 1 ? 'row' : 'rows'}`
}

/** `1 h 02 min`, `3 min 20 s`, `4.2 s`. */
export function formatDuration(seconds: number): string {
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`
  const minutes = Math.round(whole / 60)
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** JSON on several lines, but with short arrays of numbers, such as positions and boxes, on one line. */
export function formatJson(value: unknown): string {
  const number = String.raw`-?\d+(?:\.\d+)?(?:e[+-]?\d+)?`
  const short = new RegExp(String.raw`\[\s+(${number}(?:,\s+${number}){0,7})\s+\]`, 'g')
  const text = JSON.stringify(value, null, 2)
  return text.replaceAll(short, (_, numbers: string) => `[${numbers.replaceAll(/,\s+/g, ', ')}]`)
}

/** Powers of 1024: `1.4 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit] ?? ''}`
}

/** Words with a special spelling. */
const WRITTEN: Readonly<Record<string, string>> = {
  crs: 'CRS',
  csv: 'CSV',
  dgg: 'DGG',
  etag: 'ETag',
  geojson: 'GeoJSON',
  geotiff: 'GeoTIFF',
  id: 'ID',
  maxzoom: 'largest zoom',
  minzoom: 'smallest zoom',
  osm: 'OSM',
  pmtiles: 'PMTiles',
  srid: 'SRID',
  srs: 'SRS',
  url: 'URL',
}

/** Display names for fields whose own name describes a format. */
const CALLED: Readonly<Record<string, string>> = { aoiGeoJson: 'Area' }

/** A field name as text for people: `geotiffPath` becomes `GeoTIFF path`. */
export function humanise(name: string): string {
  const called = CALLED[name]
  if (called !== undefined) return called
  const words = name
    .replaceAll('_', ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace('geo json', 'geojson')
    .trim()
    .split(' ')
    .map((word) => WRITTEN[word] ?? word)
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
