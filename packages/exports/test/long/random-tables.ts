import { seededRandom } from '@terrane/core'

/** How many tables are drawn. */
const TABLES = 33
const MOST_COLUMNS = 9
const MOST_ROWS = 12
const NULL_SHARE = 0.2

type Draw = () => number

/** A type of column, and a literal of it. */
type Kind = readonly [type: string, literal: (draw: Draw) => string]

/** Names of columns: key words, other scripts, long ones, signs, and words that formats have a use for. */
const NAMES = [
  'select',
  'order',
  'user',
  'table',
  'Größe',
  '名前',
  'имя',
  'اسم',
  'emoji 🐎',
  `long_${'x'.repeat(58)}`,
  'Name',
  'name',
  'with space',
  'semi;colon',
  'per%cent',
  'back\\slash',
  `quo"te`,
  'x',
  'y',
  'lon',
  'lat',
  'id',
  'fid',
  '1st',
  '_',
  'type',
  'properties',
  'geometry_name',
  'coordinates',
  'null',
  'WKT',
  'rowid',
  'ogc_fid',
  'a.b',
  "apos'trophe",
  'new\nline',
  'tab\tstop',
]
const TEXTS = [
  '',
  ' ',
  'a',
  'NULL',
  'null',
  '007',
  '1,5',
  'ä€🐎',
  '"quoted"',
  'two\nlines',
  'semi;colon',
  '=1+1',
  '+49151',
  '2024-02-29',
  'true',
  '\\n',
]

const of = <T>(draw: Draw, list: readonly T[]): T => list[Math.floor(draw() * list.length)]!
const whole = (draw: Draw, bits: number) => String(Math.floor((draw() - 0.5) * 2 ** bits))
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
const two = (number: number) => String(number).padStart(2, '0')
const day = (draw: Draw) =>
  `${1900 + Math.floor(draw() * 200)}-${two(1 + Math.floor(draw() * 12))}-${two(1 + Math.floor(draw() * 28))}`
const clock = (draw: Draw) =>
  `${two(Math.floor(draw() * 24))}:${two(Math.floor(draw() * 60))}:${two(Math.floor(draw() * 60))}${of(draw, ['', '.5', '.123', '.123456'])}`
const zone = (draw: Draw) => of(draw, ['Z', '+01', '-03:30', '+05:45', '+14', '-12'])
const text = (draw: Draw) => of(draw, TEXTS)
const float = (draw: Draw) =>
  of(draw, ['0.1', '-0', '1e300', '-1e-300', 'NaN', 'Infinity', '123456.789', String(draw())])
const json = (draw: Draw) =>
  of(draw, ['{}', '[]', 'null', '1.10', '"t"', '{"a": {"b": [1, null, "ä"]}}', '[{"x": 9007199254740993}]', 'true'])
const list = (draw: Draw, item: (draw: Draw) => string) =>
  `array[${Array.from({ length: Math.floor(draw() * 4) }, () => (draw() < NULL_SHARE ? 'null' : item(draw))).join()}]`

const KINDS: readonly Kind[] = [
  ['int2', (draw) => whole(draw, 15)],
  ['int4', (draw) => whole(draw, 31)],
  ['int8', (draw) => whole(draw, 53)],
  ['float4', (draw) => quoted(of(draw, ['1.1', '-0.1', '3.4028235e38', 'NaN', '16777217']))],
  ['float8', (draw) => quoted(float(draw))],
  ['numeric(12,4)', (draw) => `${whole(draw, 20)}.${whole(() => 0.5 + draw() / 2, 13).slice(0, 4)}`],
  ['numeric', (draw) => of(draw, ['0.10', '12345678901234567890.123', '1e30', '-5'])],
  ['bool', (draw) => of(draw, ['true', 'false'])],
  ['text', (draw) => quoted(text(draw))],
  ['varchar(20)', (draw) => quoted(text(draw))],
  ['date', (draw) => quoted(day(draw))],
  ['time', (draw) => quoted(clock(draw))],
  ['timestamp', (draw) => quoted(`${day(draw)}T${clock(draw)}`)],
  ['timestamptz', (draw) => quoted(`${day(draw)}T${clock(draw)}${zone(draw)}`)],
  ['timetz', (draw) => quoted(`${clock(draw)}${zone(draw)}`)],
  ['interval', (draw) => quoted(of(draw, ['1 mon', '-2 days', '03:04:05.5', 'P1Y2M3DT4H']))],
  ['jsonb', (draw) => quoted(json(draw))],
  ['json', (draw) => quoted(json(draw))],
  ['uuid', () => quoted('01234567-89ab-cdef-0123-456789abcdef')],
  ['bytea', (draw) => quoted(of(draw, ['\\x', '\\x00ff', '\\x2022']))],
  ['public.mood', (draw) => quoted(of(draw, ['happy', 'so so']))],
  ['int4[]', (draw) => `${list(draw, (d) => whole(d, 31))}::int4[]`],
  ['text[]', (draw) => `${list(draw, (d) => quoted(text(d)))}::text[]`],
  ['float8[]', (draw) => `${list(draw, (d) => quoted(float(d)))}::float8[]`],
  ['timestamptz[]', (draw) => `${list(draw, (d) => quoted(`${day(d)}T${clock(d)}${zone(d)}`))}::timestamptz[]`],
  ['jsonb[]', (draw) => `${list(draw, (d) => quoted(json(d)))}::jsonb[]`],
]

/** Geometries by their type; `@` stands for a position. */
const SHAPES: readonly (readonly [type: string, text: string])[] = [
  ['Point', '(@)'],
  ['LineString', '(@,@,@)'],
  ['MultiPoint', '((@),(@))'],
  ['MultiLineString', '((@,@),(@,@))'],
  ['Polygon', '((@1,@2,@3,@1))'],
  ['MultiPolygon', '(((@1,@2,@3,@1)))'],
]

/** Tables of drawn columns, rows and geometries, by name: what follows `create table`, as in `AWKWARD`. */
export function randomTables(seed: number): Readonly<Record<string, string>> {
  const tables: Record<string, string> = {}
  for (let i = 0; i < TABLES; i++) tables[`drawn_${i}`] = tableOf(`drawn_${i}`, seededRandom(seed + i))
  return tables
}

function tableOf(name: string, draw: Draw): string {
  const left = [...NAMES]
  const columns = Array.from({ length: Math.floor(draw() * MOST_COLUMNS) }, () => {
    const [column] = left.splice(Math.floor(draw() * left.length), 1) as [string]
    return { column: `"${column.replaceAll('"', '""')}"`, kind: of(draw, KINDS) }
  })
  const made = draw() < 0.3 ? [`"made" int8 generated always as (n * 2) stored`] : []
  const shape = drawShape(draw)
  const declared = [
    'n int4',
    ...columns.map(({ column, kind }) => `${column} ${kind[0]}`),
    ...made,
    ...(shape ? [`geom ${shape.type}`] : []),
  ]
  const rows = Array.from({ length: Math.floor(draw() * MOST_ROWS) }, (_, n) => {
    const values = columns.map(({ kind }) => (draw() < NULL_SHARE ? 'null' : kind[1](draw)))
    return `(${[String(n), ...values, ...(shape ? [shape.literal()] : [])].join(', ')})`
  })
  const names = ['n', ...columns.map(({ column }) => column), ...(shape ? ['geom'] : [])].join(', ')
  const insert = rows.length > 0 ? `; insert into public.${name} (${names}) values ${rows.join(', ')}` : ''
  return `(${declared.join(', ')})${insert}`
}

/** A geometry column: none, of one type, or of any; each row has the dimensions of the column, or its own. */
function drawShape(draw: Draw): { readonly type: string; literal(): string } | null {
  if (draw() < 0.2) return null
  const isAny = draw() < 0.4
  const one = of(draw, SHAPES)
  const dimensions = of(draw, ['', '', 'Z', 'M', 'ZM'])
  const type = isAny ? 'geometry' : `geometry(${one[0]}${dimensions}, 4326)`
  return {
    type,
    literal() {
      if (draw() < NULL_SHARE) return 'null'
      const [kind, form] = isAny ? of(draw, SHAPES) : one
      const own = isAny && draw() < 0.3 ? of(draw, ['', 'Z', 'ZM']) : dimensions
      if (draw() < 0.1) return quoted(`SRID=4326;${kind} ${own} EMPTY`)
      return quoted(`SRID=4326;${kind} ${own}${positions(form, own, draw)}`)
    },
  }
}

/** Fills in positions; numbered ones are the corners of a triangle, counter-clockwise. */
function positions(form: string, dimensions: string, draw: Draw): string {
  const [x, y] = [draw() * 300 - 150, draw() * 120 - 60]
  const more = Array.from({ length: dimensions.length }, () => Math.round(draw() * 100) / 4)
  const at = (dx: number, dy: number) => [x + dx, y + dy, ...more].join(' ')
  const corners = [at(0, 0), at(1, 0), at(0, 1)]
  return form.replaceAll(/@(\d?)/g, (_, corner: string) =>
    corner === '' ? at(draw(), draw()) : corners[Number(corner) - 1]!,
  )
}
