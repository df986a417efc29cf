// Shapefiles as the reader here and the engine read them: files that the reader does not leave to the engine give equal rows.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FeatureBatch, FeatureReader, LayerSchema } from '../src/feature-stream.ts'
import { openZip } from '../src/unpack/unzip.ts'
import { openDataset } from '../src/open-dataset.ts'
import { openShapefile } from '../src/read/shapefile.ts'
import { gdalHere } from '../src/testing/gdal-here.ts'
import { readersHere } from '../src/testing/read-here.ts'
import {
  convertTo,
  NO_SHAPE,
  partsShape,
  pointShape,
  removeFormats,
  type Shapes,
  WGS84,
  writeShapefile,
} from '@terrane/testing/files'

const signal = new AbortController().signal
let root: string
let made = 0
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'terrane-shapefile-'))
})
afterAll(async () => {
  await removeFormats()
  await rm(root, { recursive: true, force: true })
})

type Position = [number, number]
const square = (x: number, y: number, size: number): Position[] => [[x, y], [x, y + size], [x + size, y + size], [x + size, y], [x, y]] // prettier-ignore
const hole = (x: number, y: number, size: number) => square(x, y, size).toReversed()

/** A folder of its own for one Shapefile. */
async function newFolder(): Promise<string> {
  const folder = join(root, String(++made))
  await mkdir(folder)
  return folder
}

/** A file of shapes, with a number to each where no columns are given. */
async function fileOf(file: Partial<Shapes> & Pick<Shapes, 'kind' | 'shapes'>): Promise<string> {
  const folder = await newFolder()
  const rows = file.shapes.map((_, i) => [String(i)])
  await writeShapefile(join(folder, 'shapes'), { columns: [['n', 'N', 5]], rows, prj: WGS84, ...file })
  return join(folder, 'shapes.shp')
}

/** Contents of a layer, row by row. */
function contentsOf(layer: LayerSchema, batches: readonly FeatureBatch[]) {
  const rows = batches.flatMap((batch) =>
    Array.from({ length: batch.rows }, (_, i) => [
      Buffer.from(batch.geometry.subarray(i === 0 ? 0 : batch.geometryEnds[i - 1], batch.geometryEnds[i])).toString(
        'hex',
      ),
      ...batch.columns.map((column) => column[i]),
    ]),
  )
  const { name, fields, srid } = layer
  return { name, fields, srid, geometryTypes: layer.geometryTypes.toSorted((a, b) => a - b), rows }
}

function ownContents(path: string, encoding?: string) {
  const reader: FeatureReader = openShapefile({ path, ...(encoding && { encoding }) })
  const [layer] = reader.layers
  return layer ? contentsOf(layer, [...(reader.read(0) as Iterable<FeatureBatch>)]) : null
}

/** A folder that is opened as a whole goes to the engine. */
async function engineContents(path: string) {
  const folder = join(path, '..')
  const dataset = { folder, file: '.', driver: 'ESRI Shapefile', stem: 'shapes' } as const
  const workdir = await newFolder()
  await using opened = await openDataset(dataset, gdalHere, {}, { workdir, signal, startReader: readersHere() })
  const batches: FeatureBatch[] = []
  for await (const { batch } of opened.reading.read([0])) batches.push(batch)
  return contentsOf(opened.reading.layers[0]!, batches)
}

describe.each(['Point', 'MultiPoint', 'LineString', 'Polygon'])('random files of %s', (type) => {
  test('are read as the engine reads them', async () => {
    const random = seededRandom(type.length)
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
    const position = (): Position => [random() * 300 - 150, random() * 160 - 80]
    const line = () => Array.from({ length: 2 + Math.floor(random() * 5) }, position)
    const area = (x: number): Position[][] => [
      square(x, random(), 5),
      ...(random() < 0.4 ? [hole(x + 1, 2, 1)] : []),
      ...(random() < 0.2 ? [hole(x + 3, 3, 1)] : []),
    ]
    const geometry = () => {
      const isMulti = random() < 0.4
      if (random() < 0.1) return null
      switch (type) {
        case 'Point':
          return { type, coordinates: position() }
        case 'MultiPoint':
          return { type, coordinates: line() }
        case 'LineString':
          return isMulti ? { type: 'MultiLineString', coordinates: [line(), line()] } : { type, coordinates: line() }
        default:
          return isMulti ? { type: 'MultiPolygon', coordinates: [area(0), area(20)] } : { type, coordinates: area(40) }
      }
    }
    const features = Array.from({ length: 60 }, (_, i) => ({
      type: 'Feature',
      properties: {
        whole: pick([i, -i, null]),
        large: pick([2 ** 40 + i, -(2 ** 53) + 1, 0, null]),
        width: pick([random(), -random() * 1e9, 1, null]),
        name: pick(['a', 'Zürich', ' b ', '', null, '007', '東京']),
        day: pick(['2020-02-29', '1969-12-31', null]),
        truth: pick([true, false, null]),
      },
      geometry: geometry(),
    }))
    const archive = await convertTo('ESRI Shapefile', JSON.stringify({ type: 'FeatureCollection', features }), [
      '-lco',
      'ENCODING=UTF-8',
    ])
    const folder = await newFolder()
    await writeFile(join(root, 'archive.zip'), archive)
    using zip = await openZip(join(root, 'archive.zip'), { maxEntries: 10, maxBytes: 1e7 })
    await zip.unpack(folder, signal)
    const path = join(
      folder,
      (await readdir(folder)).find((name) => name.endsWith('.shp'))!,
    )
    const own = ownContents(path)
    expect(own).not.toBeNull()
    expect(own).toEqual(await engineContents(path))
  })
})

test('rings go to the outer ring that they are in, in the order of the outer ones', async () => {
  const polygons = [
    [square(0, 0, 10)],
    [hole(1, 1, 2), square(0, 0, 10), square(20, 0, 10), hole(22, 2, 1), hole(5, 5, 2)],
    // The bounds of the second hold the first; holes that touch the edge at a corner.
    [square(6, 6, 1), [[0, 0], [0, 10], [10, 10], [10, 9], [1, 9], [1, 0], [0, 0]]], // prettier-ignore
    [square(0, 0, 10), [[0, 0], [5, 2], [5, 5], [0, 0]]], // prettier-ignore
  ] as Position[][][]
  const path = await fileOf({ kind: 5, shapes: [...polygons.map((parts) => partsShape(5, parts)), NO_SHAPE] })
  const own = ownContents(path)!
  expect(own).toEqual(await engineContents(path))
  expect(own.geometryTypes).toEqual([3, 6])
})

test.each<[string, Position[][]]>([
  ['an outer ring in another one', [square(0, 0, 10), square(2, 2, 2)]],
  ['a hole in none', [square(0, 0, 10), hole(20, 20, 2)]],
  ['a single ring of a hole, and one', [hole(0, 0, 10), hole(20, 20, 2)]],
  ['a ring that is not closed', [square(0, 0, 10).slice(0, 4)]],
  ['a ring without an area', [[[0, 0], [1, 1], [2, 2], [0, 0]]]], // prettier-ignore
])('%s is for the engine', async (_, parts) => {
  expect(ownContents(await fileOf({ kind: 5, shapes: [partsShape(5, parts)] }))).toBeNull()
})

const TABLE: Pick<Shapes, 'kind' | 'shapes' | 'columns' | 'rows'> = {
  kind: 1,
  shapes: [pointShape(1, 2), pointShape(3, 4), pointShape(5, 6)],
  columns: [['whole', 'N', 9], ['large', 'N', 18], ['width', 'F', 12, 3], ['name', 'C', 8], ['day', 'D', 8], ['truth', 'L', 1]], // prettier-ignore
  rows: [
    ['7', '123456789012345678', '-1.5e3', 'a', '20240229', 'T'],
    ['*********', '', '', '  b c', '00000000', '?'],
    ['-1', '0', '2.', '', '0', 'n'],
  ],
}

test('cells are what their columns say, and rows that were deleted are none', async () => {
  const path = await fileOf({ ...TABLE, deleted: new Set([1]) })
  const own = ownContents(path)!
  expect(own.rows.map(([, ...cells]) => cells)).toEqual([
    [7, 123_456_789_012_345_678n, -1500, 'a', '2024-02-29', true],
    [-1, 0, 2, null, null, false],
  ])
  expect(own).toEqual(await engineContents(path))
  // A day of blanks is none, too; the engine hands on 0000-00-00.
  const blank = ownContents(await fileOf({ ...TABLE, rows: TABLE.rows.map((row) => row.with(4, '')) }))!
  expect(blank.rows.map((row) => row[5])).toEqual([null, null, null])
})

test('texts are in the encoding that the request, the file beside them or the table says', async () => {
  const rows = (name: string) => TABLE.rows.map((row) => row.with(3, name))
  const utf8 = Buffer.from('Zürich', 'utf8').toString('latin1')
  const namesOf = async (file: Partial<Shapes>, encoding?: string) =>
    ownContents(await fileOf({ ...TABLE, ...file }), encoding)?.rows.map((row) => row[4])
  const three = (name: string) => [name, name, name]
  expect(await namesOf({ rows: rows(utf8), cpg: 'UTF-8\n' })).toEqual(three('Zürich'))
  expect(await namesOf({ rows: rows('Zürich'), cpg: 'ISO-8859-1' })).toEqual(three('Zürich'))
  expect(await namesOf({ rows: rows('Zürich'), languageDriver: 0x57 })).toEqual(three('Zürich'))
  expect(await namesOf({ rows: rows('\x80 5'), languageDriver: 0x03 })).toEqual(three('€ 5'))
  expect(await namesOf({ rows: rows(utf8), cpg: '1252' }, 'utf-8')).toEqual(three('Zürich'))
  // Bytes and texts by Python's codecs.
  expect(await namesOf({ rows: rows('Z\x81rich'), languageDriver: 0x01 })).toEqual(three('Zürich'))
  expect(await namesOf({ rows: rows('St\xfd\xa1te\xa7'), cpg: '852' })).toEqual(three('Střítež'))
  expect(await namesOf({ rows: rows('\xcc\xee\xf1\xea\xe2\xe0'), cpg: 'ANSI 1251' })).toEqual(three('Москва'))
  expect(await namesOf({ rows: rows('\xcc\xee\xf1\xea\xe2\xe0') }, 'windows-1251')).toEqual(three('Москва'))
  expect(await namesOf({ rows: rows('\x93\x8c\x8b\x9e'), languageDriver: 0x7b })).toEqual(three('東京'))
  expect(await namesOf({ rows: rows('\xa3\xf3d\xbc'), cpg: 'ISO-8859-2' })).toEqual(three('Łódź'))
  // No system, an unknown one, and one that does not fit are for the engine.
  expect(await namesOf({ rows: rows('Zürich') })).toBeUndefined()
  expect(await namesOf({ rows: rows('a'), cpg: 'UTF-7' })).toBeUndefined()
  expect(await namesOf({ rows: rows('Zürich'), cpg: 'UTF-8' })).toBeUndefined()
  expect(await namesOf({ rows: rows('\x80 5'), languageDriver: 0x57 })).toBeUndefined()
})

test.each<[string, Partial<Shapes>]>([
  ['a shape of another kind', { shapes: [pointShape(1, 2), pointShape(3, 4), partsShape(3, [[[0, 0], [1, 1]]])] }], // prettier-ignore
  ['shapes with heights', { kind: 11 }],
  ['a number that is none', { rows: TABLE.rows.map((row) => row.with(0, '1x')) }],
  ['a whole number with a fraction', { rows: TABLE.rows.map((row) => row.with(0, '1.5')) }],
  ['a day that is none', { rows: TABLE.rows.map((row) => row.with(4, '20230229')) }],
  ['a number of twenty digits', { columns: [['n', 'N', 20]] }],
  ['a column of another type', { columns: [['n', 'M', 10]] }],
  ['two columns of one name', { columns: [['n', 'N', 5], ['N', 'N', 5]] }], // prettier-ignore
  ['more rows than shapes', { rows: [...TABLE.rows, TABLE.rows[0]!] }],
])('%s is for the engine', async (_, file) => {
  expect(ownContents(await fileOf({ ...TABLE, ...file }))).toBeNull()
})

test('without an index or a table a Shapefile is for the engine, without a .prj it has no system', async () => {
  for (const ending of ['shx', 'dbf']) {
    const path = await fileOf(TABLE)
    await rm(path.replace(/shp$/, ending))
    expect(ownContents(path)).toBeNull()
  }
  const path = await fileOf(TABLE)
  await rm(path.replace(/shp$/, 'prj'))
  expect(ownContents(path)).toMatchObject({ srid: null })
})
