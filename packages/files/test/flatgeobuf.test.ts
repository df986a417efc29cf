import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom, wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFlatGeobuf } from '../src/read/flatgeobuf.ts'
import { cellsOf } from '../src/read/flatgeobuf/properties.ts'
import { convertTo, removeFormats } from '@terrane/testing/files'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-fgb-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await removeFormats()
})

const SQUARE = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 0],
]
const HOLE = [
  [2, 1],
  [3, 1],
  [3, 2],
  [2, 1],
]
const SHAPES: GeoJsonGeometry[] = [
  { type: 'Point', coordinates: [1, 2] },
  { type: 'LineString', coordinates: SQUARE },
  { type: 'Polygon', coordinates: [SQUARE, HOLE] },
  { type: 'MultiPoint', coordinates: HOLE },
  { type: 'MultiLineString', coordinates: [SQUARE, HOLE] },
  { type: 'MultiPolygon', coordinates: [[SQUARE, HOLE], [HOLE]] },
  {
    type: 'GeometryCollection',
    geometries: [
      { type: 'Point', coordinates: [5, 6] },
      { type: 'MultiLineString', coordinates: [HOLE] },
    ],
  },
]

async function read(bytes: Uint8Array) {
  const path = join(folder, 'file.fgb')
  await writeFile(path, bytes)
  const reader = openFlatGeobuf(path)
  const rows: { wkb: Uint8Array; values: unknown[] }[] = []
  for await (const { rows: count, geometry, geometryEnds, columns } of reader.read(0)) {
    for (let i = 0; i < count; i++) {
      const wkb = geometry.slice(i === 0 ? 0 : geometryEnds[i - 1], geometryEnds[i])
      rows.push({ wkb, values: columns.map((column) => column[i]) })
    }
  }
  return { layer: reader.layers[0]!, rows }
}

/** The shapes as written by GDAL, in any order; `n` numbers them. */
const written = (shapes: readonly GeoJsonGeometry[], options: readonly string[] = []) => {
  const features = shapes.map((geometry, n) => ({ type: 'Feature', properties: { n }, geometry }))
  return convertTo('FlatGeobuf', JSON.stringify({ type: 'FeatureCollection', features }), options)
}

test.each([
  ['with an index', []],
  ['without one', ['-lco', 'SPATIAL_INDEX=NO']],
])('geometries of all types that GDAL wrote %s are those of the source', async (_, options) => {
  const { layer, rows } = await read(await written(SHAPES, options))
  expect(layer).toMatchObject({ rows: SHAPES.length, srid: 4326, fields: [{ name: 'n', type: 'int4' }] })
  expect(layer.geometryTypes.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7])
  for (const { wkb, values } of rows) {
    const n = values[0] as number
    expect(Buffer.from(wkb), SHAPES[n]!.type).toEqual(Buffer.from(wkbOfGeoJson(SHAPES[n]!)!))
  }
})

test.each(SHAPES.map((shape) => [shape.type, shape] as const))('a layer of one %s alone is read', async (_, shape) => {
  const { rows } = await read(await written([shape]))
  expect(rows.map(({ wkb }) => Buffer.from(wkb))).toEqual([Buffer.from(wkbOfGeoJson(shape)!)])
})

test('heights are kept, and 5,000 features come in the order of the file', async () => {
  const random = seededRandom(4)
  const shapes = Array.from({ length: 5000 }, (): GeoJsonGeometry => ({
    type: 'LineString',
    coordinates: Array.from({ length: 2 + Math.floor(random() * 9) }, () => [random(), random(), random()]),
  }))
  const { layer, rows } = await read(await written(shapes, ['-lco', 'SPATIAL_INDEX=NO']))
  expect(layer.geometryTypes).toEqual([1002])
  expect(rows.map(({ values }) => values[0])).toEqual(shapes.map((_, n) => n))
  expect(rows.every(({ wkb }, n) => Buffer.compare(wkb, wkbOfGeoJson(shapes[n]!)!) === 0)).toBe(true)
})

/** Values in bytes, each behind the number of its column. */
function valuesOfAllTypes(json: string): Uint8Array {
  const number = (bytes: number, write: (view: DataView) => void) => {
    const view = new DataView(new ArrayBuffer(bytes))
    write(view)
    return Buffer.from(view.buffer)
  }
  const sized = (bytes: Uint8Array) => Buffer.concat([number(4, (v) => v.setUint32(0, bytes.length, true)), bytes])
  const values = [
    number(1, (v) => v.setInt8(0, -128)),
    number(1, (v) => v.setUint8(0, 255)),
    number(1, (v) => v.setUint8(0, 1)),
    number(2, (v) => v.setInt16(0, -32768, true)),
    number(2, (v) => v.setUint16(0, 65535, true)),
    number(4, (v) => v.setInt32(0, -(2 ** 31), true)),
    number(4, (v) => v.setUint32(0, 2 ** 32 - 1, true)),
    number(8, (v) => v.setBigInt64(0, -(2n ** 63n), true)),
    number(8, (v) => v.setBigUint64(0, 2n ** 64n - 1n, true)),
    number(4, (v) => v.setFloat32(0, 0.5, true)),
    number(8, (v) => v.setFloat64(0, 0.1, true)),
    sized(Buffer.from('Ünï')),
    sized(Buffer.from(json)),
    sized(Buffer.from('2024/02/29T12:34:56.789+01:00')),
    sized(Uint8Array.of(0, 255)),
  ]
  return Buffer.concat(values.flatMap((value, i) => [number(2, (v) => v.setUint16(0, i, true)), value]))
}

const COLUMNS = Array.from({ length: 15 }, (_, type) => ({ name: `c${type}`, type }))
const cells = (bytes: Uint8Array) => cellsOf(new DataView(Uint8Array.from(bytes).buffer), 0, bytes.length, COLUMNS)

test('a value of each type is kept as it is', () => {
  expect(cells(valuesOfAllTypes('{"a":[1]}'))).toEqual([
    -128,
    255,
    true,
    -32768,
    65535,
    -(2 ** 31),
    2 ** 32 - 1,
    -(2n ** 63n),
    '18446744073709551615',
    0.5,
    0.1,
    'Ünï',
    { a: [1] },
    '2024-02-29T12:34:56.789+01:00',
    Uint8Array.of(0, 255),
  ])
})

test('values that are not there are null, and JSON that is none stays the text that it is', () => {
  expect(cells(valuesOfAllTypes('{"a":'))[12]).toBe('{"a":')
  expect(cells(new Uint8Array())).toEqual(COLUMNS.map(() => null))
  expect(() => cells(Uint8Array.of(15, 0, 1))).toThrow(RangeError)
  // Zeros that a writer left behind the last value.
  expect(cells(Uint8Array.of(0, 0, 255, 0, 0, 0, 0, 0))[0]).toBe(-1)
})

test('days and times have the type that all their values have: with a zone only where one is said', async () => {
  const typesOf = async (...times: string[]) => {
    const features = times.map((at) => ({ type: 'Feature', properties: { at }, geometry: SHAPES[0] }))
    const { layer, rows } = await read(
      await convertTo('FlatGeobuf', JSON.stringify({ type: 'FeatureCollection', features })),
    )
    return [layer.fields[0]!.type, ...rows.map(({ values }) => String(values[0]).slice(0, 19)).toSorted()]
  }
  expect(await typesOf('2024-02-29T13:45:10', '2024-03-01T00:00:00')).toEqual([
    'timestamp',
    '2024-02-29T13:45:10',
    '2024-03-01T00:00:00',
  ])
  expect(await typesOf('2024-02-29T13:45:10', '2024-03-01T00:00:00+01:00')).toMatchObject(['timestamptz', {}, {}])
})

test('a system that is not of EPSG is not taken for one', async () => {
  const options = ['-s_srs', 'EPSG:4326', '-t_srs', 'ESRI:54009']
  expect((await read(await written(SHAPES.slice(0, 1), options))).layer.srid).toBeNull()
  const known = ['-s_srs', 'EPSG:4326', '-t_srs', 'EPSG:25832']
  expect((await read(await written(SHAPES.slice(0, 1), known))).layer.srid).toBe(25832)
})

test('a file that is cut off anywhere, or damaged, is refused and named', async () => {
  const bytes = await written(SHAPES)
  const random = seededRandom(9)
  for (let i = 0; i < 40; i++) {
    const cut = bytes.subarray(0, Math.floor(random() * (bytes.length - 1)))
    await expect(read(cut)).rejects.toMatchObject({ code: 'CONVERSION_FAILED' })
  }
  for (let i = 0; i < 200; i++) {
    const damaged = Buffer.from(bytes)
    damaged[8 + Math.floor(random() * (bytes.length - 8))] = Math.floor(random() * 256)
    const outcome = await read(damaged).catch((error: unknown) => error)
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'CONVERSION_FAILED' })
  }
})
