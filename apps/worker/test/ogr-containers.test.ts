import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import {
  CompressionType,
  Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  Float64,
  Int32,
  List,
  Struct,
  Table,
  TimestampMicrosecond,
  Utf8,
  compressionRegistry,
  tableToIPC,
  vectorFromArray,
} from 'apache-arrow'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { pack } from 'tar-stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { importFile } from './import-file.ts'
import { convertTo, pointShape, removeFormats, tableOf, WGS84, writeShapefile, zip } from '@terrane/testing/files'

/** A table in Arrow's file format whose buffers are packed by zstd. */
function packedArrow(table: Table): Uint8Array {
  const codec = compressionRegistry.get(CompressionType.ZSTD)
  compressionRegistry.set(CompressionType.ZSTD, { ...codec, encode: (bytes: Uint8Array) => zstdCompressSync(bytes) })
  try {
    return tableToIPC(table, 'file', CompressionType.ZSTD)
  } finally {
    if (codec) compressionRegistry.set(CompressionType.ZSTD, codec)
  }
}

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await removeFormats()
})

const points = (count: number, name: string) =>
  JSON.stringify({
    type: 'FeatureCollection',
    features: Array.from({ length: count }, (_, i) => ({
      type: 'Feature',
      properties: { name, i },
      geometry: { type: 'Point', coordinates: [i, i + 1] },
    })),
  })
const rowsOf = async (table: string, columns: string) =>
  (await db.database.query(`select ${columns} from ${table} order by 1`)).rows

test('an archive of several data sets becomes a table of each, called by its file', async () => {
  const archive = zip([
    { name: 'a/Towns.geojson', data: Buffer.from(points(2, 'town')) },
    { name: 'a/trees.csv', data: Buffer.from('name,lon,lat\noak,1,2\nelm,3,4\nash,5,6\n') },
    { name: 'a/readme.txt', data: Buffer.from('Towns and trees') },
    { name: 'a/picture.png', data: Buffer.from('\u0089PNG\r\n\u001a\n\0\0') },
  ])
  const { tables, warnings } = await importFile(db.database, archive, { tableName: 'packed' })
  expect(tables.map(({ table, layer, rows }) => [table, layer, rows])).toEqual([
    ['public.packed_towns', 'towns', 2],
    ['public.packed_trees', 'trees', 3],
  ])
  expect(warnings).toMatchObject([{ code: 'FILES_SKIPPED', count: 1, examples: ['picture.png'] }])
  const one = await importFile(db.database, archive, { tableName: 'trees', layer: 'trees' })
  expect(one.tables).toMatchObject([{ table: 'public.trees', rows: 3 }])
  await expect(importFile(db.database, archive, { layer: 'roads' })).rejects.toMatchObject({ code: 'LAYER_UNKNOWN' })
})

test('a table of dBASE is imported, on its own and beside a Shapefile that it does not belong to', async () => {
  const trees = tableOf({
    columns: [['name', 'C', 10], ['height', 'N', 6, 1], ['planted', 'D', 8]], // prettier-ignore
    rows: [['oak', '21.5', '19870301'], ['gone', '1.0', ''], ['linden', '', '']], // prettier-ignore
    deleted: new Set([1]),
    languageDriver: 0x57,
  })
  const rows = [
    { name: 'linden', height: null, planted: null },
    { name: 'oak', height: 21.5, planted: '1987-03-01' },
  ]
  const columns = 'name, height, planted::text'
  const { tables, warnings } = await importFile(db.database, trees, { tableName: 'grove' })
  expect([tables, warnings]).toMatchObject([[{ rows: 2, geometry_type: null, srid: null }], []])
  expect(await rowsOf('public.grove', columns)).toEqual(rows)

  const folder = await mkdtemp(join(tmpdir(), 'terrane-dbf-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeShapefile(join(folder, 'spots'), {
    kind: 1,
    shapes: [pointShape(1, 2)],
    columns: [['n', 'N', 5]],
    rows: [['1']],
    prj: WGS84,
  })
  const spots = await Promise.all(
    ['shp', 'shx', 'dbf', 'prj'].map(async (ending) => {
      return { name: `spots.${ending}`, data: await readFile(join(folder, `spots.${ending}`)) }
    }),
  )
  const archive = zip([...spots, { name: 'trees.dbf', data: trees }])
  const both = await importFile(db.database, archive, { tableName: 'park' })
  expect(both.tables).toMatchObject([
    { table: 'public.park_spots', rows: 1, geometry_type: 'Point' },
    { table: 'public.park_trees', rows: 2, geometry_type: null },
  ])
  expect(await rowsOf('public.park_trees', columns)).toEqual(rows)

  // Memo files are read by the engine, which reports missing ones.
  const memo = Buffer.from(trees)
  memo[0] = 0x83
  expect((await importFile(db.database, memo)).tables).toMatchObject([{ rows: 2, geometry_type: null }])
  await expect(importFile(db.database, Buffer.from(trees.subarray(0, 60)))).rejects.toMatchObject({
    code: 'FORMAT_UNKNOWN',
  })
})

test('a table of FoxPro has its numbers, money and moments, and other types of bytes are refused', async () => {
  const bytes = (size: number, write: (cell: Buffer) => void) => {
    const cell = Buffer.alloc(size)
    write(cell)
    return cell.toString('latin1')
  }
  const moment = bytes(8, (cell) => {
    cell.writeInt32LE(2_440_588 + 19_782, 0)
    cell.writeInt32LE(((13 * 60 + 45) * 60 + 10) * 1000, 4)
  })
  const file = tableOf({
    columns: [['name', 'C', 6], ['i', 'I', 4], ['y', 'Y', 8], ['t', 'T', 8], ['b', 'B', 8]], // prettier-ignore
    rows: [
      ['oak', bytes(4, (cell) => cell.writeInt32LE(-7)), bytes(8, (cell) => cell.writeBigInt64LE(-123_456n)), moment, bytes(8, (cell) => cell.writeDoubleLE(1.1))], // prettier-ignore
      ['none', bytes(4, () => {}), bytes(8, () => {}), ' '.repeat(8), bytes(8, () => {})],
    ],
  })
  file[0] = 0x30
  const { tables, warnings } = await importFile(db.database, file, { tableName: 'fox' })
  expect(tables[0]!.columns.map(({ type }) => type).slice(-5)).toEqual([
    'text',
    'int4',
    'numeric',
    'timestamp',
    'float8',
  ])
  expect(warnings).toEqual([])
  expect(await rowsOf('public.fox', 'name, i, y::text, t::text, b')).toEqual([
    { name: 'none', i: 0, y: '0.0000', t: null, b: 0 },
    { name: 'oak', i: -7, y: '-12.3456', t: '2024-02-29 13:45:10', b: 1.1 },
  ])
  for (const [letter, width, version] of [
    ['O', 8, 3],
    ['@', 8, 4],
    ['+', 4, 4],
    ['I', 4, 3],
    ['M', 4, 0x30],
    ['0', 1, 0x30],
  ] as const) {
    // prettier-ignore
    const other = tableOf({ columns: [['name', 'C', 6], ['x', letter, width]], rows: [['oak', 'a']] })
    other[0] = version
    await expect(importFile(db.database, other)).rejects.toMatchObject({
      code: 'CONVERSION_FAILED',
      message: expect.stringContaining(`has the type ${letter}`) as string,
    })
  }
})

test('warnings name the layer that they are about', async () => {
  const bad = points(2, 'a').replace('[0,1]', '["x",1]')
  const archive = zip([
    { name: 'good.geojson', data: Buffer.from(points(1, 'g')) },
    { name: 'bad.geojson', data: Buffer.from(bad) },
  ])
  const { warnings } = await importFile(db.database, archive)
  expect(warnings).toMatchObject([{ code: 'GEOMETRY_UNREADABLE', layer: 'bad', count: 1, examples: [1] }])
})

test('a file of an archive may compress as well as a sparse index does', async () => {
  const data = Buffer.from(points(2000, 'z'))
  const sparse = { name: 'a.spx', data: Buffer.alloc(200_000) }
  const { tables } = await importFile(db.database, zip([{ name: 'z.json', data }, sparse]))
  expect(tables).toMatchObject([{ rows: 2000 }])
})

test('one ratio holds for zip, gzip, compressed tar and the codecs of Arrow and Parquet', async () => {
  const bomb = Buffer.concat([Buffer.from(points(1, 'b')), Buffer.alloc(1 << 20, ' ')])
  const archive = pack()
  archive.entry({ name: 'b.json' }, bomb)
  archive.finalize()
  const zeros = new Int32Array(1 << 18)
  const arrow = packedArrow(new Table({ zeros: vectorFromArray(zeros) }))
  const parquet = parquetWriteBuffer({
    columnData: [{ name: 'zeros', data: zeros, type: 'INT32', encoding: 'PLAIN' }],
    codec: 'ZSTD',
    compressors: { ZSTD: (input: Uint8Array) => zstdCompressSync(input) },
  })
  const packed = gzipSync(bomb)
  expect(bomb.length / packed.length).toBeGreaterThan(100)
  const tar = gzipSync(await buffer(archive))
  for (const file of [zip([{ name: 'b.json', data: bomb }]), packed, tar, arrow, new Uint8Array(parquet)]) {
    await expect(importFile(db.database, Buffer.from(file))).rejects.toMatchObject({
      code: 'ZIP_REFUSED',
      message: expect.stringContaining('100 times'),
    })
  }
  // Small files, and files that compress as data do, are accepted.
  expect((await importFile(db.database, gzipSync(points(400, 'small')))).tables).toMatchObject([{ rows: 400 }])
})

test('Zip64, tar and compressed tar are unpacked, and a tar that leads elsewhere is refused', async () => {
  const data = Buffer.from(points(3, 'z'))
  expect((await importFile(db.database, zip([{ name: 'z.json', data }], 1, true))).tables).toMatchObject([{ rows: 3 }])
  const tar = async (name: string, type: 'file' | 'symlink' = 'file') => {
    const archive = pack()
    if (type === 'file') archive.entry({ name }, data)
    else archive.entry({ name, type, linkname: '/etc/passwd' })
    archive.finalize()
    return buffer(archive)
  }
  const plain = await tar('folder/z.json')
  expect((await importFile(db.database, plain)).tables).toMatchObject([{ rows: 3 }])
  expect((await importFile(db.database, gzipSync(plain))).tables).toMatchObject([{ rows: 3 }])
  await expect(importFile(db.database, await tar('../z.json'))).rejects.toMatchObject({ code: 'ZIP_REFUSED' })
  await expect(importFile(db.database, await tar('z.json', 'symlink'))).rejects.toMatchObject({ code: 'ZIP_REFUSED' })
  await expect(importFile(db.database, plain.subarray(0, 700))).rejects.toMatchObject({ code: 'ZIP_REFUSED' })
})

test('OpenDocument spreadsheets and KMZ are read', async () => {
  const kml =
    '<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>A</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>'
  const kmz = zip([
    { name: 'doc.kml', data: Buffer.from(kml) },
    { name: 'files/icon.png', data: Buffer.from('PNG') },
  ])
  expect((await importFile(db.database, kmz)).tables).toMatchObject([{ rows: 1, geometry_type: 'Point' }])
  const ods = await convertTo('ODS', points(2, 'o'))
  expect((await importFile(db.database, ods)).tables).toMatchObject([{ rows: 2, geometry_type: null }])
})

test('Arrow has dictionaries of any id: some writers take hashes of 64 bits', async () => {
  const names = (id: number, ...texts: string[]) => vectorFromArray(texts, new Dictionary(new Utf8(), new Int32(), id))
  const file = new Table({ first: names(2 ** 62, 'a', 'b', 'a'), second: names(2 ** 62 - 2 ** 20, 'c', 'c', 'd') })
  const { tables } = await importFile(db.database, Buffer.from(tableToIPC(file, 'file')))
  expect(await rowsOf(tables[0]!.table, 'first, second')).toEqual([
    { first: 'a', second: 'c' },
    { first: 'a', second: 'd' },
    { first: 'b', second: 'c' },
  ])
})

test('Arrow keeps nested points, times to the microsecond and decimals to the last digit', async () => {
  const point = new FixedSizeList(2, new Field('xy', new Float64()))
  const line = new List(new Field('vertices', new Struct(['x', 'y', 'z'].map((n) => new Field(n, new Float64())))))
  const micros = vectorFromArray([0, null], new TimestampMicrosecond())
  micros.data[0]!.values[0] = 1_600_000_000_123_456n
  const columns = {
    name: vectorFromArray(['a', null]),
    big: vectorFromArray([2n ** 63n - 1n, null]),
    at: micros,
    price: vectorFromArray([new Uint32Array([0xeb1f0ad2, 0xab54a98c, 0, 0]), null], new Decimal(5, 25, 128)),
    list: vectorFromArray([[1, 2], null], new List(new Field('item', new Float64()))),
    geometry: vectorFromArray([[1, 2], null], point),
    path: vectorFromArray([[{ x: 1, y: 2, z: 3 }, { x: 4, y: 5, z: 6 }], null], line), // prettier-ignore
  }
  const made = new Table(columns)
  const write = (name: string, encoding: string, format: 'file' | 'stream') => {
    for (const field of made.schema.fields) field.metadata.clear()
    const { metadata } = made.schema.fields.find((field) => field.name === name)!
    metadata.set('ARROW:extension:name', encoding).set('ARROW:extension:metadata', '{"crs":"EPSG:4326"}')
    return Buffer.from(tableToIPC(made, format))
  }
  const first = (await importFile(db.database, write('geometry', 'geoarrow.point', 'file'))).tables[0]!
  expect(first).toMatchObject({ rows: 2, geometry_type: 'Point', srid: 4326 })
  const shown = `name, big::text, to_char("at" at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US') as at, price::text, list::text, st_astext(geom) as geom`
  expect(await rowsOf(first.table, shown)).toEqual([
    {
      name: 'a',
      big: '9223372036854775807',
      at: '2020-09-13 12:26:40.123456',
      price: '123456789012345.67890',
      list: '[1, 2]',
      geom: 'POINT(1 2)',
    },
    { name: null, big: null, at: null, price: null, list: null, geom: null },
  ])
  const second = (await importFile(db.database, write('path', 'geoarrow.linestring', 'stream'))).tables[0]!
  expect(await rowsOf(second.table, 'st_astext(geom) as geom')).toEqual([
    { geom: 'MULTILINESTRING Z ((1 2 3,4 5 6))' },
    { geom: null },
  ])
})

test('Parquet keeps decimals of more digits than a double has, and times to the microsecond', async () => {
  const bytes = parquetWriteBuffer({
    columnData: [
      { name: 'price', data: [12345678901234567n, null, -5n] },
      { name: 'at', data: [1_600_000_000_123_456n, null, 0n] },
    ],
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'price', type: 'INT64', repetition_type: 'OPTIONAL', converted_type: 'DECIMAL', scale: 2, precision: 18 },
      { name: 'at', type: 'INT64', repetition_type: 'OPTIONAL', converted_type: 'TIMESTAMP_MICROS' },
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: (input: Uint8Array) => zstdCompressSync(input) },
  } as never)
  const { tables } = await importFile(db.database, Buffer.from(bytes))
  const shown = `price::text, to_char(at at time zone 'utc', 'HH24:MI:SS.US') as at`
  expect(await rowsOf(tables[0]!.table, shown)).toEqual([
    { price: '-0.05', at: '00:00:00.000000' },
    { price: '123456789012345.67', at: '12:26:40.123456' },
    { price: null, at: null },
  ])
})

test('a layer that is larger than what SQLite keeps in memory while it is converted arrives whole', async () => {
  const features = Array.from({ length: 20_000 }, (_, i) => ({
    type: 'Feature',
    properties: { i, name: `${i} `.repeat(20) },
    geometry: { type: 'Point', coordinates: [i / 1000, i / 2000] },
  }))
  const text = JSON.stringify({ type: 'FeatureCollection', features })
  for (const format of ['ESRI Shapefile', 'GML', 'MapInfo File']) {
    const table = `large_${format.slice(0, 3).toLowerCase()}`
    const { tables } = await importFile(db.database, await convertTo(format, text), { tableName: table })
    expect(tables).toMatchObject([{ rows: 20_000 }])
    const wrong = `i is distinct from st_x(geom) * 1000 and abs(i - st_x(geom) * 1000) > 1e-6 or name not like i || ' ' || i || '%'`
    expect(await rowsOf(`public.${table}`, `count(*)::int as rows, count(distinct i)::int as whole`)).toEqual([
      { rows: 20_000, whole: 20_000 },
    ])
    expect(await rowsOf(`public.${table} where ${wrong}`, 'i')).toEqual([])
  }
})

test('a table of a single column of well-known text has geometries', async () => {
  const { tables } = await importFile(db.database, Buffer.from('geometry\nLINESTRING (1 2, 3 4)\nPOINT Z (1 2 3)\n'))
  expect(tables).toMatchObject([{ rows: 2, srid: 4326 }])
  const { rows } = await db.database.query(`select st_astext(geom) as geom from ${tables[0]!.table} order by 1`)
  expect(rows.map(({ geom }) => geom)).toEqual(['MULTILINESTRING Z ((1 2 0,3 4 0))', 'POINT Z (1 2 3)'])
})

test('a page of HTML within a placemark is no document type of the file', async () => {
  const html = '<![CDATA[<!DOCTYPE html><p>A cache</p>]]>'
  const kml = `<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><description>${html}</description><Point><coordinates>1,2</coordinates></Point></Placemark></kml>`
  const { tables } = await importFile(db.database, Buffer.from(kml))
  const { rows } = await db.database.query(`select description from ${tables[0]!.table}`)
  expect(rows).toEqual([{ description: '<!DOCTYPE html><p>A cache</p>' }])
})
