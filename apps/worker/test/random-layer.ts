import type { ExportFormat } from '@terrane/contracts'

/** A table of random rows that a format can hold. */
export interface RandomLayer {
  /** Names of its columns besides `n`, which numbers the rows, and `geom`. */
  readonly columns: readonly string[]
  /** Statements that make it. */
  sqlFor(table: string): string
}

type Random = () => number

const KINDS = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'] as const
const LETTERS = ['a', 'Z', 'é', 'ß', 'ж', '漢', '🐎', ' ', '"', "'", ',', ';', '\\', '|', '<', '&', '{', 'x']
/** Dimensions of positions that each format keeps. */
const DIMENSIONS: Readonly<Record<ExportFormat, readonly string[]>> = {
  GeoPackage: ['', ' Z', ' M', ' ZM'],
  GeoParquet: ['', ' Z'],
  FlatGeobuf: ['', ' Z'],
  GeoJSON: ['', ' Z'],
  GeoJSONSeq: ['', ' Z'],
  CSV: ['', ' Z', ' M', ' ZM'],
  Shapefile: ['', ' Z'],
}

/** A layer of 1 to 40 rows: whole and broken numbers, texts, truth values, dates, nulls, and geometries of one kind or of all. */
export function randomLayer(random: Random, format: ExportFormat): RandomLayer {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const dimensions = pick(DIMENSIONS[format])
  const isMixed = format !== 'Shapefile' && random() < 0.4
  const kinds: readonly string[] = [...KINDS, 'GeometryCollection']
  const kind = pick(format === 'Shapefile' ? KINDS : kinds)
  // Formats whose geometries have boxes have none for an empty one.
  const mayBeEmpty = format !== 'Shapefile' && format !== 'FlatGeobuf'
  const values: Readonly<Record<string, [string, () => string]>> = {
    whole: ['int4', () => String(Math.floor((random() - 0.5) * 2 ** 32))],
    long: ['int8', () => String(BigInt(Math.floor((random() - 0.5) * 2 ** 53)) * 1023n + 2n ** 40n)],
    broken: ['float8', () => String((random() - 0.5) * 10 ** Math.floor(random() * 20 - 10))],
    words: ['text', () => `'w${words(random).replaceAll("'", "''")}w'`],
    day: ['date', () => `'${new Date(random() * 4e12 - 2e12).toISOString().slice(0, 10)}'`],
    truth: ['bool', () => String(random() < 0.5)],
  }
  const able = Object.keys(values).filter(
    (name) => !(format === 'Shapefile' && ['truth', 'long', 'broken'].includes(name)),
  )
  const columns = able.filter(() => random() < 0.75)
  const rows = Array.from({ length: 1 + Math.floor(random() * 40) }, (_, n) => {
    // The first row has a value of each, so that text formats can tell the types.
    const cells = columns.map((name) => (n > 0 && random() < 0.15 ? 'null' : values[name]![1]()))
    const shape =
      n > 0 && random() < 0.1
        ? 'null'
        : `'SRID=4326;${wkt(random, isMixed ? pick(kinds) : kind, { dimensions, mayBeEmpty })}'`
    return `(${[n, ...cells, shape].join(', ')})`
  })
  return {
    columns,
    sqlFor: (table) => {
      const defined = columns.map((name) => `${name} ${values[name]![0]}`)
      return `create table ${table} (${['n int4', ...defined, 'geom geometry'].join(', ')});
        insert into ${table} values ${rows.join(',\n')}`
    },
  }
}

function words(random: Random): string {
  return Array.from({ length: Math.floor(random() * 12) }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join(
    '',
  )
}

interface WktOptions {
  readonly dimensions: string
  readonly mayBeEmpty: boolean
}

function wkt(random: Random, kind: string, options: WktOptions): string {
  const { dimensions, mayBeEmpty } = options
  const width = 2 + dimensions.trim().length
  const position = (x: number, y: number) =>
    Array.from({ length: width }, (_, i) => (i === 0 ? x : i === 1 ? y : Math.round(random() * 1e5) / 100)).join(' ')
  const some = <T>(make: () => T) => Array.from({ length: 1 + Math.floor(random() * 3) }, make)
  const place = () => [random() * 340 - 170, random() * 160 - 80] as const
  const point = () => position(...place())
  const line = () => `(${[point(), point(), ...some(point)].join(', ')})`
  // Triangles, clockwise as a Shapefile has them, all of them apart.
  const ring = () => {
    const [x, y] = place()
    const first = position(x, y)
    return `(${[first, position(x + random(), y + 1), position(x + 2, y - random()), first].join(', ')})`
  }
  const name = `${kind.toUpperCase()}${dimensions}`
  if (mayBeEmpty && random() < 0.05) return `${name} EMPTY`
  switch (kind) {
    case 'GeometryCollection':
      return `${name} (${some(() => wkt(random, KINDS[Math.floor(random() * KINDS.length)]!, options)).join(', ')})`
    case 'Point':
      return `${name} (${point()})`
    case 'LineString':
      return `${name} ${line()}`
    case 'Polygon':
      return `${name} (${ring()})`
    case 'MultiPoint':
      return `${name} (${some(point).join(', ')})`
    case 'MultiLineString':
      return `${name} (${some(line).join(', ')})`
    default:
      return `${name} (${some(() => `(${ring()})`).join(', ')})`
  }
}
