import { isoType, seededRandom, WkbCursor, WkbWriter, wkbHead, wkbProblem, type Dimensions } from '@terrane/core'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// Compares the codec of WKB with PostGIS in both directions.
const ROUNDS = 40
const NAMES = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'GeometryCollection']
const ALL: readonly Dimensions[] = ['xy', 'xyz', 'xym', 'xyzm']

type Position = readonly number[]
interface Shape {
  readonly code: number
  /** One position or none of a point; the positions of a line. */
  readonly positions: readonly Position[]
  readonly rings: readonly (readonly Position[])[]
  readonly parts: readonly Shape[]
}

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

function randomShape(random: () => number, code: number, width: number, depth = 0): Shape {
  const whole = (most: number) => Math.floor(random() * (most + 1))
  const position = () => Array.from({ length: width }, () => (random() - 0.5) * 10 ** whole(6))
  // PostGIS writes collections of empty parts as empty ones.
  const isEmpty = depth === 0 && random() < 0.15
  const some = <T>(least: number, make: () => T) => (isEmpty ? [] : Array.from({ length: least + whole(3) }, make))
  const shape = { code, positions: [], rings: [], parts: [] }
  if (code === 1) return { ...shape, positions: isEmpty ? [] : [position()] }
  if (code === 2) return { ...shape, positions: some(2, position) }
  if (code === 3) {
    const ring = () => {
      const open = Array.from({ length: 3 + whole(3) }, position)
      return [...open, open[0]!]
    }
    return { ...shape, rings: some(1, ring) }
  }
  const part = () => randomShape(random, code < 7 ? code - 3 : 1 + whole(depth < 2 ? 6 : 5), width, depth + 1)
  return { ...shape, parts: some(1, part) }
}

function write(writer: WkbWriter, { code, positions, rings, parts }: Shape): void {
  writer.head(code)
  if (code === 1) writer.position(positions[0] ?? [NaN, NaN, NaN, NaN])
  else if (code === 2) writeList(writer, positions)
  else if (code === 3) {
    writer.count(rings.length)
    for (const ring of rings) writeList(writer, ring)
  } else {
    writer.count(parts.length)
    for (const part of parts) write(writer, part)
  }
}

function writeList(writer: WkbWriter, positions: readonly Position[]): void {
  writer.count(positions.length)
  for (const position of positions) writer.position(position)
}

function read(cursor: WkbCursor): Shape {
  const code = cursor.head()
  const list = (count: number) => {
    const start = cursor.positions(count)
    return Array.from({ length: count }, (_, i) =>
      Array.from({ length: cursor.stride / 8 }, (__, d) => cursor.number(start + i * cursor.stride + 8 * d)),
    )
  }
  const shape = { code, positions: [], rings: [], parts: [] }
  if (code === 1) return { ...shape, positions: list(1).filter(([x]) => !Number.isNaN(x)) }
  const count = cursor.count()
  if (code === 2) return { ...shape, positions: list(count) }
  if (code === 3) return { ...shape, rings: Array.from({ length: count }, () => list(cursor.count())) }
  return { ...shape, parts: Array.from({ length: count }, () => read(cursor)) }
}

/** As WKT, with enough digits to identify each double. */
function wktOf({ code, positions, rings, parts }: Shape, letters: string, isWhole = true): string {
  const list = (some: readonly Position[]) => `(${some.map((position) => position.join(' ')).join(',')})`
  const name = isWhole ? `${NAMES[code - 1]!.toUpperCase()}${letters} ` : ''
  if (code === 1) return name + (positions.length === 0 ? 'EMPTY' : list(positions))
  if (code === 2) return name + (positions.length === 0 ? 'EMPTY' : list(positions))
  if (code === 3) return name + (rings.length === 0 ? 'EMPTY' : `(${rings.map(list).join(',')})`)
  return name + (parts.length === 0 ? 'EMPTY' : `(${parts.map((part) => wktOf(part, letters, code === 7)).join(',')})`)
}

const lettersOf = (dimensions: Dimensions) => (dimensions === 'xy' ? '' : ` ${dimensions.slice(2).toUpperCase()}`)
const cases = ALL.flatMap((dimensions) => NAMES.map((name, i) => ({ name, code: i + 1, dimensions })))

describe.each(cases)('$name $dimensions', ({ code, dimensions }) => {
  const shapes = () => {
    const random = seededRandom(code * 10 + dimensions.length + (dimensions === 'xym' ? 5 : 0))
    return Array.from({ length: ROUNDS }, () => randomShape(random, code, dimensions.length))
  }
  const written = (shape: Shape, srid: number) => {
    const writer = new WkbWriter(dimensions, srid)
    write(writer, shape)
    return Buffer.from(writer.take())
  }
  const texts = (list: readonly Shape[]) => list.map((shape) => wktOf(shape, lettersOf(dimensions)))

  test('what is written is what PostGIS makes of the text, with and without a system', async () => {
    const list = shapes()
    const { rows } = await db.database.query<{ ewkb: Buffer; iso: Buffer; same: boolean; srid: number }>(
      `select st_asewkb(of_text, 'NDR') as ewkb, st_asbinary(of_text, 'NDR') as iso, st_srid(of_bytes) as srid,
         st_asewkb(of_text, 'NDR') = st_asewkb(of_bytes, 'NDR') as same
       from unnest($1::text[], $2::text[]) with ordinality as t (wkt, bytes, place),
         lateral (select st_geomfromtext(wkt, 3857) as of_text, st_geomfromewkb(decode(bytes, 'hex')) as of_bytes) g order by place`,
      [texts(list), list.map((shape) => written(shape, 3857).toString('hex'))],
    )
    for (const [i, { ewkb, iso, same, srid }] of rows.entries()) {
      expect([same, srid]).toEqual([true, 3857])
      expect(written(list[i]!, 3857).equals(ewkb)).toBe(true)
      expect(written(list[i]!, 0).equals(iso)).toBe(true)
    }
  })

  test('what PostGIS writes is read, in both byte orders and both forms', async () => {
    const list = shapes()
    const { rows } = await db.database.query<{ forms: string[] }>(
      `select array[encode(st_asewkb(g, 'NDR'), 'hex'), encode(st_asewkb(g, 'XDR'), 'hex'), encode(st_asbinary(g, 'NDR'), 'hex'),
         encode(st_asbinary(g, 'XDR'), 'hex')] as forms
       from unnest($1::text[]) with ordinality as t (wkt, place), lateral (select st_geomfromtext(wkt, 3857) as g) s order by place`,
      [texts(list)],
    )
    for (const [i, { forms }] of rows.entries()) {
      for (const [form, hex] of forms.entries()) {
        const bytes = Buffer.from(hex, 'hex')
        const cursor = new WkbCursor()
        cursor.open(Buffer.concat([Buffer.alloc(3), bytes, Buffer.alloc(2)]), 3, 3 + bytes.length)
        expect(read(cursor)).toEqual(list[i])
        expect([cursor.isAtEnd, cursor.srid]).toEqual([true, form < 2 ? 3857 : 0])
        const type = code + (dimensions.includes('z') ? 1000 : 0) + (dimensions.includes('m') ? 2000 : 0)
        expect(isoType(wkbHead(bytes)!)).toBe(type)
        expect(wkbProblem(bytes)).toBeNull()
      }
    }
  })

  test('bytes that are changed or cut are refused, or PostGIS takes them, too', async () => {
    const random = seededRandom(code)
    const broken = shapes().flatMap((shape) => {
      const bytes = written(shape, 4326)
      const changed = Buffer.from(bytes)
      changed[Math.floor(random() * Math.min(bytes.length, 30))] = Math.floor(random() * 256)
      return [changed, bytes.subarray(0, Math.floor(random() * bytes.length))]
    })
    const passed = broken.filter((bytes) => wkbProblem(bytes) === null)
    expect(passed.length).toBeLessThan(broken.length)
    for (const bytes of passed) {
      const { rows } = await db.database.query('select st_geomfromewkb(decode($1, $2)) is null as refused', [
        bytes.toString('hex'),
        'hex',
      ])
      expect(rows, bytes.toString('hex')).toEqual([{ refused: false }])
    }
  })
})
