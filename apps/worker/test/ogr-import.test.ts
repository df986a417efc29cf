// Slow: ninety jobs, some with a conversion by GDAL.
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { openStore } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nativeEngine } from '@terrane/files'
import { ogr2ogrImport } from '../src/jobs/ogr2ogr-import.ts'
import { READ_HERE } from './import-file.ts'
import { openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { convertTo, removeFormats, zip } from '@terrane/testing/files'

const TASK = 'ogr2ogrImport'
// oxlint-disable-next-line node/no-process-env -- Where a native engine is, for the person who runs the tests.
const NATIVE = [process.env['TERRANE_TEST_OGR2OGR'], '/usr/bin/ogr2ogr', '/usr/local/bin/ogr2ogr'].find(
  (path) => path && existsSync(path),
)
const MAX_BYTES = 2_000_000

/** Served files by path. */
const files = new Map<string, Buffer | string>()
const requested: string[] = []
let server: Server
let base: string

beforeAll(async () => {
  server = createServer((request, response) => {
    requested.push(request.url!)
    const file = files.get(request.url!)
    if (file === undefined) response.writeHead(404).end()
    else response.end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await removeFormats()
})

const feature = (properties: object, geometry: object | null, more: object = {}) => ({
  type: 'Feature',
  properties,
  geometry,
  ...more,
})
const pointAt = (...coordinates: number[]) => ({ type: 'Point', coordinates })
const collection = (features: readonly object[]) => JSON.stringify({ type: 'FeatureCollection', features })
const square = (x: number, y: number, side = 1) => ({
  type: 'Polygon',
  coordinates: [
    [
      [x, y],
      [x + side, y],
      [x + side, y + side],
      [x, y + side],
      [x, y],
    ],
  ],
})

const TOWNS = collection([
  feature({ name: 'Köln', people: 1_084_831, share: 0.5 }, pointAt(6.95, 50.93)),
  feature({ name: 'A "quoted", semi;colon', people: 7, share: -1.25 }, pointAt(10.5, 51.25)),
  feature({ name: null, people: null, share: null }, pointAt(-0.125, -33)),
])
const TOWN_ROWS = [
  { name: 'A "quoted", semi;colon', people: 7, share: -1.25, geom: 'POINT(10.5 51.25)' },
  { name: 'Köln', people: 1_084_831, share: 0.5, geom: 'POINT(6.95 50.93)' },
  { name: null, people: null, share: null, geom: 'POINT(-0.125 -33)' },
]

const ENGINES = [
  { name: 'the built-in engine', path: '' },
  ...(NATIVE ? [{ name: `the native engine at ${NATIVE}`, path: NATIVE }] : []),
]
test.runIf(!NATIVE)('SKIPPED: no ogr2ogr is installed, so the native engine is not tested', () => {
  expect(NATIVE).toBeUndefined()
})

describe.each(ENGINES)('$name', ({ path }) => {
  let worker: TestWorker
  let made = 0

  beforeAll(async () => {
    const readers = { ...READ_HERE, ...(path && { engine: nativeEngine(path) }) }
    worker = await openWorker({
      tasks: [ogr2ogrImport({ ...readers, maxBytes: MAX_BYTES, openSchemas: ['opened'] })],
      env: {
        TERRANE_FETCH_ALLOW_HOSTS: new URL(base).host,
        TERRANE_WORKER_CONCURRENCY: '2',
        TERRANE_PROJECT_CONCURRENCY: '2',
      },
    })
  })
  afterAll(() => worker[Symbol.asyncDispose]())

  const query = async <Row extends object = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
    (await worker.db.database.query<Row>(sql, values)).rows

  /** Imports a file's bytes under a name; returns the job and its table. */
  async function run(name: string, bytes: Buffer | string, body: object = {}): Promise<JobRecord & { table: string }> {
    files.set(`/${name}`, bytes)
    const table = `t${++made}`
    const request = { fileUrl: `${base}/${name}`, tableName: table, ...body }
    const { status, body: job } = await submit(worker, TASK, request)
    expect([status, job.code]).toEqual([202, undefined])
    return { ...(await until(worker, job.links.self)), table }
  }

  async function expectNothingLeft(table: string): Promise<void> {
    const left = `select tablename from pg_tables where schemaname = 'terrane_staging' or tablename = $1`
    expect(await query(left, [table])).toEqual([])
    expect(await readdir(worker.env['TERRANE_WORK_DIR']!)).toEqual([])
  }

  describe('imports each format by its content', () => {
    const formats: { format: string; make: () => Promise<Buffer | string>; unset?: object }[] = [
      { format: 'GeoJSON', make: async () => TOWNS },
      {
        format: 'GeoJSONSeq',
        make: async () =>
          (JSON.parse(TOWNS) as { features: object[] }).features.map((f) => `${JSON.stringify(f)}\n`).join(''),
      },
      { format: 'GPKG', make: () => convertTo('GPKG', TOWNS) },
      { format: 'FlatGeobuf', make: () => convertTo('FlatGeobuf', TOWNS) },
      { format: 'Shapefile', make: () => convertTo('ESRI Shapefile', TOWNS, ['-lco', 'ENCODING=UTF-8']) },
      {
        format: 'MapInfo TAB',
        make: () => convertTo('MapInfo File', TOWNS, ['-lco', 'ENCODING=UTF-8']),
        unset: { name: '', people: 0, share: 0 },
      },
      { format: 'GML', make: () => convertTo('GML', TOWNS, [], '.xsd') },
      { format: 'CSV with WKT', make: () => convertTo('CSV', TOWNS, ['-lco', 'GEOMETRY=AS_WKT']), unset: { name: '' } },
      {
        format: 'a zip of GeoJSON',
        make: async () => zip([{ name: 'some/folder/Towns.json', data: Buffer.from(TOWNS) }]),
      },
    ]

    test.each(formats)('$format', async ({ make, unset }) => {
      const done = await run('whatever.bin', await make())
      expect(done).toMatchObject({
        status: 'success',
        result: { table: `public.${done.table}`, rows: 3, rejected: 0, geometry_type: 'Point', srid: 4326 },
      })
      const rows = await query(
        `select name, people::int, share::float8, st_astext(geom, 6) as geom from ${done.table} order by st_x(geom) desc`,
      )
      // Types that a format lacks come back as the nearest one.
      const [last] = TOWN_ROWS.slice(-1)
      expect(rows).toEqual([...TOWN_ROWS.slice(0, -1), { ...last, ...unset }])
      const bbox = done.result!['bbox'] as number[]
      expect(bbox.map((value) => Math.round(value * 1e6) / 1e6)).toEqual([-0.125, -33, 10.5, 51.25])
      const [{ kind }] = (await query<{ kind: string }>(
        `select postgis_typmod_type(atttypmod) as kind from pg_attribute where attrelid = $1::regclass and attname = 'geom'`,
        [done.table],
      )) as [{ kind: string }]
      expect(kind).toBe('Point')
    })

    test('KML and GPX', async () => {
      const kml = `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document><Folder><name>Places</name>
        <Placemark><name>Köln</name><Point><coordinates>6.95,50.93</coordinates></Point></Placemark></Folder></Document></kml>`
      const places = await run('a.txt', kml)
      expect(await query(`select name, st_astext(st_force2d(geom)) as geom from ${places.table}`)).toEqual([
        { name: 'Köln', geom: 'POINT(6.95 50.93)' },
      ])
      const gpx = `<?xml version="1.0"?><gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">
        <trk><name>Run</name><trkseg><trkpt lat="1" lon="2"/><trkpt lat="2" lon="3"/></trkseg></trk></gpx>`
      const tracks = await run('b.txt', gpx, { layer: 'tracks' })
      expect(tracks.result).toMatchObject({ layer: 'tracks', rows: 1, geometry_type: 'MultiLineString' })
      // Of five layers those are imported that hold something, each into a table of its own.
      const all = await run('b.txt', gpx)
      expect(all).toMatchObject({ status: 'success', result: { rows: 3 } })
      const found = all.result!['tables'] as { table: string; layer: string; rows: number }[]
      expect(found.map(({ table, layer, rows }) => [table, layer, rows])).toEqual([
        [`public.${all.table}_tracks`, 'tracks', 1],
        [`public.${all.table}_track_points`, 'track_points', 2],
      ])
      const empty = await run('b.txt', gpx, { layer: 'routes' })
      expect(empty).toMatchObject({ status: 'failed', error: { code: 'NOTHING_IMPORTED' } })
      expect(empty.error!.hint).toContain('tracks')
      const unknown = await run('b.txt', gpx, { layer: 'nope' })
      expect(unknown).toMatchObject({ status: 'failed', error: { code: 'LAYER_UNKNOWN' } })
    })

    test('CSV with coordinates, delimiters, encodings and reference systems of its own', async () => {
      const text = 'Name;Rechts;Hoch\nKöln;356000;5645000\n'
      const done = await run('towns.csv', Buffer.from(text, 'latin1'), {
        csv: { x: 'Rechts', y: 'Hoch' },
        sourceSrs: 'EPSG:25832',
        encoding: 'windows-1252',
      })
      expect(done.result).toMatchObject({ rows: 1, geometry_type: 'Point', srid: 4326 })
      const [row] = await query<{ name: string; x: number; y: number }>(
        `select name, st_x(geom) as x, st_y(geom) as y from ${done.table}`,
      )
      expect(row!.name).toBe('Köln')
      // By PROJ 9: gdaltransform -s_srs EPSG:25832 -t_srs EPSG:4326.
      expect(row!.x).toBeCloseTo(6.95044230420033, 9)
      expect(row!.y).toBeCloseTo(50.938624841623, 9)
    })
  })

  test('values of every kind arrive as they are', async () => {
    const odd = {
      text: 'tab\t newline\n back\\slash \\N "q" ä€😀',
      big: 9_007_199_254_740_993n,
      yes: true,
      day: '2020-02-29',
    }
    const geojson = collection([
      feature(
        { ...odd, big: 0, when: '2020-02-29T12:30:00Z', list: [1, 2], object: { a: [1, null] }, empty: '' },
        pointAt(1, 2),
      ),
      feature({ text: '\\.', yes: false }, null),
    ]).replace('"big":0', `"big":${odd.big}`)
    const done = await run('values.json', geojson)
    expect(done.result).toMatchObject({ rows: 2, rejected: 0 })
    const rows = await query(`select text, big::text, yes, day::text, when_t, list, object, empty, geom is null as bare
      from (select *, "when" at time zone 'utc' as when_t from ${done.table} order by id) t`)
    expect(rows[0]).toMatchObject({
      ...odd,
      big: String(odd.big),
      list: [1, 2],
      object: { a: [1, null] },
      empty: '',
      bare: false,
    })
    expect(rows[1]).toMatchObject({ text: '\\.', yes: false, list: null, bare: true })
  })

  test('nothing is lost in silence', async () => {
    const polygons = [
      square(0, 0),
      { type: 'MultiPolygon', coordinates: [square(5, 5).coordinates, square(8, 8).coordinates] },
    ]
    const shapes = await run(
      'multi.zip',
      await convertTo('ESRI Shapefile', collection(polygons.map((p, n) => feature({ n }, p)))),
    )
    expect(shapes.result).toMatchObject({ rows: 2, rejected: 0, geometry_type: 'MultiPolygon', warnings: [] })

    const odd = collection([
      feature({ big: 0, born: '-0044-03-15', text: 'a\0b' }, pointAt(1, 2), { id: 'x' }),
      feature({ big: 1, born: '1999-12-31', text: 'c' }, pointAt(1, 2, 3)),
      feature({ big: 2, born: '2000-01-01', text: 'd' }, { type: 'Point', coordinates: ['a', 2] }),
    ]).replace('"big":0', '"big":18446744073709551615')
    const done = await run('odd.json', odd)
    expect(done.result).toMatchObject({ rows: 3, geometry_type: 'PointZ' })
    expect((done.result!['warnings'] as { code: string }[]).map(({ code, ...more }) => [code, more])).toEqual([
      ['GEOMETRY_UNREADABLE', { message: expect.any(String), layer: 'features', count: 1, examples: [3] }],
      ['DIMENSIONS_FILLED', { message: expect.any(String), layer: 'features', count: 1, examples: [1] }],
      ['NUL_REMOVED', { message: expect.any(String), layer: 'features', count: 1, examples: [1] }],
    ])
    const rows = await query(
      `select id, big::text, born = '0045-03-15 BC'::date as ides, text, st_z(geom) as z from ${done.table} order by fid`,
    )
    expect(rows).toEqual([
      { id: 'x', big: '18446744073709551615', ides: true, text: 'ab', z: 0 },
      { id: null, big: '1', ides: false, text: 'c', z: 3 },
      { id: null, big: '2', ides: false, text: 'd', z: null },
    ])
    const strict = await run('odd.json', odd, { strict: true })
    expect(strict).toMatchObject({ status: 'failed', error: { code: 'WARNINGS_REFUSED' } })
    await expectNothingLeft(strict.table)
  })

  test('texts in other encodings are guessed, and the guess is said', async () => {
    const text = 'stadt;lon;lat\nMünchen;11.5;48.1\nKöln;7;51\nGrünstadt an der Weißen Elster;8,5;49,25\n'
    const latin = await run('l.csv', Buffer.from(text, 'latin1'))
    expect(latin.result).toMatchObject({ rows: 3, warnings: [{ code: 'ENCODING_GUESSED' }] })
    const wide = await run('w.csv', Buffer.from(`\u{feff}${text}`, 'utf16le'))
    expect(wide.result).toMatchObject({ rows: 3, warnings: [] })
    for (const { table } of [latin, wide]) {
      expect(await query(`select stadt, st_x(geom) as x from ${table} order by id`)).toEqual([
        { stadt: 'München', x: 11.5 },
        { stadt: 'Köln', x: 7 },
        { stadt: 'Grünstadt an der Weißen Elster', x: 8.5 },
      ])
    }
  })

  test('KML keeps what its users put into it', async () => {
    const kml = `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
      <Document><name>Trips</name><Schema id="s"><SimpleField name="height" type="double"/></Schema>
      <Placemark id="p1"><name>A</name><TimeStamp><when>2020-02-29T10:00:00Z</when></TimeStamp>
        <ExtendedData><Data name="code"><value>007</value></Data><SchemaData schemaUrl="#s"><SimpleData name="height">3</SimpleData></SchemaData></ExtendedData>
        <Point><coordinates> 6.95 , 50.93 , 5 </coordinates></Point></Placemark>
      <Placemark><name>bare</name></Placemark>
      <Folder><name>Tracks &amp; rings</name>
        <Placemark><gx:Track><when>2020-01-01T00:00:00Z</when><when>2020-01-01T01:00:00Z</when><gx:coord>1 2 3</gx:coord><gx:coord>2 3 4</gx:coord></gx:Track></Placemark>
        <Placemark><LinearRing><coordinates>0,0 1,0 1,1</coordinates></LinearRing></Placemark></Folder></Document></kml>`
    const done = await run('trips.kml', kml)
    const tables = done.result!['tables'] as { table: string; rows: number; geometry_type: string }[]
    expect(tables.map(({ rows, geometry_type }) => [rows, geometry_type])).toEqual([
      [2, 'PointZ'],
      [2, 'MultiLineStringZ'],
    ])
    const [places, tracks] = tables.map(({ table }) => table)
    expect(
      await query(
        `select id, name, "timestamp" at time zone 'utc' = '2020-02-29 10:00' as at, code, height, st_astext(geom) as geom from ${places} order by fid`,
      ),
    ).toEqual([
      { id: 'p1', name: 'A', at: true, code: '007', height: 3, geom: 'POINT Z (6.95 50.93 5)' },
      { id: null, name: 'bare', at: null, code: null, height: null, geom: null },
    ])
    expect(
      await query(`select "end" - "begin" = '1 hour' as hour, st_npoints(geom) as points from ${tracks} order by fid`),
    ).toEqual([
      { hour: true, points: 2 },
      { hour: null, points: 4 },
    ])
  })

  test('KML keeps arrays of tracks, what is nested, and elements of other names', async () => {
    const kml = `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="g" xmlns:camp="c"><Placemark><address>Way 1</address>
      <ExtendedData><Data name="note"><value>a <b>b</b></value></Data><camp:site><camp:number>14</camp:number></camp:site>
      <SchemaData><gx:SimpleArrayData name="pulse"><gx:value>86</gx:value><gx:value>103</gx:value><gx:value>108</gx:value></gx:SimpleArrayData></SchemaData></ExtendedData>
      <gx:Track><when>2020-01-01T00:00:00Z</when><when>2020-01-01T00:01:00Z</when><when>2020-01-01T00:05:00Z</when>
      <gx:coord>1 2 3</gx:coord><gx:coord>2 3 4</gx:coord><gx:coord>2 4 4</gx:coord></gx:Track></Placemark></kml>`
    const done = await run('camp.kml', kml)
    expect(await query(`select address, note, site, pulse, "when" from ${done.table}`)).toEqual([
      {
        address: 'Way 1',
        note: 'a <b>b</b>',
        site: '<camp:number>14</camp:number>',
        pulse: '["86","103","108"]',
        when: '["2020-01-01T00:00:00Z","2020-01-01T00:01:00Z","2020-01-01T00:05:00Z"]',
      },
    ])
  })

  test('GML keeps leading zeros and large numbers', async () => {
    const member = (id: number, fips: string, big: string, yes: boolean) =>
      `<gml:featureMember><o:t gml:id="${id}"><o:place><gml:Point srsName="EPSG:4326"><gml:coordinates>1,${id}</gml:coordinates></gml:Point></o:place>
       <o:fips>${fips}</o:fips><o:big>${big}</o:big><o:share>${id}.5</o:share><o:yes>${yes}</o:yes></o:t></gml:featureMember>`
    const gml = `<o:FeatureCollection xmlns:o="http://example.org/" xmlns:gml="http://www.opengis.net/gml">
      ${member(1, '01', '18446744073709551615', true)}${member(2, '17', '3', false)}</o:FeatureCollection>`
    const done = await run('states.gml', gml)
    expect(
      await query(`select gml_id, fips, big::text, pg_typeof(big)::text as type, share, yes from ${done.table}`),
    ).toEqual([
      { gml_id: '1', fips: '01', big: '18446744073709551615', type: 'numeric', share: 1.5, yes: true },
      { gml_id: '2', fips: '17', big: '3', type: 'numeric', share: 2.5, yes: false },
    ])
  })

  test('gzip, spreadsheets, TopoJSON and DXF are read', async () => {
    const packed = await run('towns.json.gz', gzipSync(TOWNS))
    expect(packed.result).toMatchObject({ rows: 3 })
    const topology = JSON.stringify({
      type: 'Topology',
      objects: {
        towns: {
          type: 'GeometryCollection',
          geometries: [{ type: 'Point', coordinates: [1, 2], properties: { a: 1 } }],
        },
      },
      arcs: [],
    })
    expect((await run('t.topojson', topology)).result).toMatchObject({ rows: 1, layer: 'towns' })
    const xlsx = await convertTo('XLSX', TOWNS)
    expect((await run('t.xlsx', xlsx)).result).toMatchObject({ rows: 3, geometry_type: null })
    const dxf = await convertTo('DXF', collection([feature({}, pointAt(1, 2))]))
    expect((await run('t.dxf', dxf, { sourceSrs: 'EPSG:4326' })).result).toMatchObject({ rows: 1 })
    expect(await run('t.dxf', dxf)).toMatchObject({ error: { code: 'SOURCE_SRS_NEEDED' } })
  })

  test('lists and columns of mixed values keep every value', async () => {
    const list = ['C:\\temp', 'q"q', 'x,y', '","', '\\', 'NULL']
    const geojson = collection([
      feature({ list, mixed: { a: 1 } }, pointAt(1, 2)),
      feature({ list: ['plain'], mixed: 'a text' }, pointAt(1, 2)),
      feature({ list: null, mixed: 7 }, pointAt(1, 2)),
    ])
    const done = await run('mixed.json', geojson)
    expect(await query(`select list, mixed from ${done.table} order by id`)).toEqual([
      { list, mixed: { a: 1 } },
      { list: ['plain'], mixed: 'a text' },
      { list: null, mixed: 7 },
    ])
  })

  test('a CSV keeps leading zeros, and values that come late', async () => {
    const csv = (rows: readonly string[]) => `zip,n,k,at,late,lon,lat\n${rows.join('\n')}\n`
    const filler = Array.from({ length: 40_000 }, (_, i) => `80331,${i},-,00:00:01,${i},8.5,47.25`)
    const done = await run('zeros.csv', csv(['01067,1,k,01:02:03,1,8,47', ...filler, '99,2,l,,n/a,8,47']))
    expect(done.result).toMatchObject({
      rows: 40_002,
      rejected: 0,
      columns: [
        { name: 'zip', type: 'text' },
        { name: 'n', type: 'int4' },
        { name: 'k', type: 'text' },
        { name: 'at', type: 'time' },
        { name: 'late', type: 'text' },
        { name: 'lon', type: 'float8' },
        { name: 'lat', type: 'float8' },
      ],
    })
    const rows = await query(`select zip, n, k, at, late from ${done.table} where k <> '-' order by id`)
    expect(rows).toEqual([
      { zip: '01067', n: 1, k: 'k', at: '01:02:03', late: '1' },
      { zip: '99', n: 2, k: 'l', at: null, late: 'n/a' },
    ])
    const chosen = await run('chosen.csv', csv(['01067,1,k,01:02:03,1,8,47']), { fields: ['zip', 'k', 'n'] })
    expect(await query(`select to_jsonb(t) - 'id' - 'geom' as row from ${chosen.table} t`)).toEqual([
      { row: { zip: '01067', k: 'k', n: 1 } },
    ])
  })

  test('names that clash, and a table with a key of its own', async () => {
    const geojson = collection([
      feature({ id: 'a', geom: 'x', Name: 1, 'odd "name"': 2 }, pointAt(1, 1)),
      feature({ id: 'b' }, pointAt(2, 2)),
    ])
    const done = await run('clash.json', geojson)
    const rows = await query(`select * from ${done.table} order by fid`)
    expect(rows[0]).toMatchObject({ fid: 1, id: 'a', geom_1: 'x', name: 1, 'odd "name"': 2 })
    await query(`insert into ${done.table} (id) values ('c')`)
    expect((await query(`select fid from ${done.table} where id = 'c'`))[0]).toEqual({ fid: 3 })
  })

  describe('geometry types', () => {
    const mixed = collection([
      feature({ n: 1 }, square(0, 0)),
      feature({ n: 2 }, { type: 'MultiPolygon', coordinates: [square(5, 5).coordinates, square(8, 8).coordinates] }),
      feature(
        { n: 3 },
        {
          type: 'LineString',
          coordinates: [
            [0, 0],
            [1, 1],
          ],
        },
      ),
    ])

    test('polygons and multi polygons become one type', async () => {
      const features = (JSON.parse(mixed) as { features: object[] }).features.slice(0, 2)
      const done = await run('m.json', collection(features))
      expect(done.result).toMatchObject({ geometry_type: 'MultiPolygon', rows: 2 })
      const kept = await run('m.json', collection(features.slice(0, 1)), { promoteToMulti: false })
      expect(kept.result).toMatchObject({ geometry_type: 'Polygon' })
    })

    test('only the type asked for is imported; the others are counted', async () => {
      const done = await run('m.json', mixed, { geometryType: 'MultiPolygon' })
      expect(done.result).toMatchObject({ geometry_type: 'MultiPolygon', rows: 2, rejected: 1 })
      const lines = await run('m.json', mixed, { geometryType: 'LineString' })
      expect(lines.result).toMatchObject({ geometry_type: 'LineString', rows: 1, rejected: 2 })
    })

    test('families that mix stay together, and the result says so', async () => {
      expect((await run('m.json', mixed)).result).toMatchObject({ geometry_type: 'Geometry', rows: 3 })
    })

    test('heights are kept', async () => {
      const geojson = collection([feature({}, pointAt(1, 2, 3)), feature({}, pointAt(4, 5, 6))])
      const done = await run('z.gpkg', await convertTo('GPKG', geojson))
      expect(done.result).toMatchObject({ geometry_type: 'PointZ' })
    })
  })

  test('a GeoPackage is read as others leave it: in write-ahead mode, without its id, with a virtual table', async () => {
    const place = join(await mkdtemp(join(tmpdir(), 'left-')), 'left.gpkg')
    await writeFile(place, await convertTo('GPKG', TOWNS))
    {
      using file = new DatabaseSync(place, { defensive: false })
      file.exec(`pragma journal_mode = wal; pragma application_id = 0; pragma writable_schema = on;
        insert into sqlite_master (type, name, tbl_name, rootpage, sql) values
          ('table', 'vgpkg_towns', 'vgpkg_towns', 0, 'CREATE VIRTUAL TABLE vgpkg_towns USING VirtualGPKG(towns)')`)
    }
    const usual = await run('usual.gpkg', await convertTo('GPKG', TOWNS))
    const left = await run('left.gpkg', await readFile(place))
    await rm(dirname(place), { recursive: true })
    expect(left.result?.['rows']).toBe(usual.result?.['rows'])
    expect([usual.result, left.result]).toMatchObject([{ warnings: [] }, { warnings: [{ code: 'LOG_MISSING' }] }])
  })

  test('heights and measures stay', async () => {
    const square3d = {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0, 5],
          [1, 0, 5],
          [1, 1, 5],
          [0, 0, 5],
        ],
      ],
    }
    const measured = await run(
      'm.zip',
      await convertTo('ESRI Shapefile', collection([feature({}, square(0, 0))]), ['-dim', 'XYM']),
    )
    expect(measured.result).toMatchObject({ rows: 1, geometry_type: 'MultiPolygonM' })
    const both = await run('zm.gpkg', await convertTo('GPKG', collection([feature({}, square3d)]), ['-dim', 'XYZM']))
    expect(both.result).toMatchObject({ rows: 1, geometry_type: 'MultiPolygonZM' })
  })

  test('fields without a name, or with one of PostgreSQL’s system columns, get another', async () => {
    const done = await run(
      'system.json',
      collection([feature({ xmin: 1, ctid: 'a', cmax: 2, '': 3, __geometry__: 4 }, pointAt(1, 2))]),
    )
    expect(done).toMatchObject({ status: 'success' })
    const names = (done.result!['columns'] as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(['xmin_1', 'ctid_1', 'cmax_1', 'field', '__geometry__'])
  })

  test('geometries without finite coordinates are rejected', async () => {
    const infinite = '{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1e400,2]}}'
    const finite = JSON.stringify(feature({}, pointAt(3, 4)))
    const done = await run('infinite.json', `{"type":"FeatureCollection","features":[${finite},${infinite}]}`)
    expect(done).toMatchObject({ status: 'success', result: { rows: 1, rejected: 1, bbox: [3, 4, 3, 4] } })
    const none = await run('infinite.json', `{"type":"FeatureCollection","features":[${infinite}]}`)
    expect(none).toMatchObject({ status: 'failed', error: { code: 'NOTHING_IMPORTED' } })
  })

  test('fields and limit', async () => {
    const done = await run('f.json', TOWNS, { fields: ['name'], limit: 2 })
    expect(done.result).toMatchObject({ rows: 2, rejected: 0, columns: [{ name: 'name', type: 'text' }] })
    const wrong = await run('f.json', TOWNS, { fields: ['nope'] })
    expect(wrong).toMatchObject({ status: 'failed', error: { code: 'FIELDS_UNKNOWN' } })
  })

  test('another target system, and one that is missing', async () => {
    const done = await run('t.json', TOWNS, { targetSrs: 'EPSG:3857' })
    expect(done.result).toMatchObject({ srid: 3857 })
    const shapefile = await convertTo('ESRI Shapefile', TOWNS, [], '.prj')
    const bare = await run('t.zip', shapefile)
    expect(bare).toMatchObject({ status: 'failed', error: { code: 'SOURCE_SRS_NEEDED' } })
    expect((await run('t.zip', shapefile, { sourceSrs: 'EPSG:4326' })).result).toMatchObject({ rows: 3, srid: 4326 })
  })

  describe('modes', () => {
    test('append adds rows, all or none', async () => {
      const { table } = await run('a.json', TOWNS)
      const more = await run('a.json', TOWNS, { tableName: table, mode: 'append' })
      expect(more).toMatchObject({ status: 'success', result: { rows: 3 } })
      expect(await query(`select count(*), count(distinct id) as keys from ${table}`)).toEqual([{ count: 6, keys: 6 }])
      const other = collection([feature({ name: 'x', surplus: 1 }, pointAt(1, 1))])
      const refused = await run('b.json', other, { tableName: table, mode: 'append' })
      expect(refused).toMatchObject({ status: 'failed', error: { code: 'COLUMNS_MISSING' } })
      await query(`alter table ${table} add constraint small check (people < 10)  not valid`)
      const failed = await run('a.json', TOWNS, { tableName: table, mode: 'append' })
      expect(failed).toMatchObject({ status: 'failed', error: { code: 'APPEND_FAILED' } })
      expect(await query(`select count(*) from ${table}`)).toEqual([{ count: 6 }])
      await expectNothingLeft('none')
    })

    test('replace puts a new table in the place of the old one', async () => {
      const { table } = await run('a.json', TOWNS)
      const one = collection([feature({ other: 1 }, pointAt(1, 1))])
      expect(await run('b.json', one, { tableName: table, mode: 'replace' })).toMatchObject({ status: 'success' })
      expect(await query(`select id, other, st_astext(geom) as geom from ${table}`)).toEqual([
        { id: 1, other: 1, geom: 'POINT(1 1)' },
      ])
      await query(`create view ${table}_view as select * from ${table}`)
      const held = await run('a.json', TOWNS, { tableName: table, mode: 'replace' })
      expect(held).toMatchObject({ status: 'failed', error: { code: 'APPEND_FAILED' } })
      expect(await query(`select count(*) from ${table}`)).toEqual([{ count: 1 }])
    })
  })

  test('a file of the storage is imported, and one that is missing is not', async () => {
    const store = openStore(worker.env['TERRANE_STORAGE']!)
    await store.createBucket('uploads', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
    await store.put('uploads', 'in/towns.json', [Buffer.from(TOWNS)] as never)
    const body = { fileUrl: undefined, storagePath: { bucket: 'uploads', path: 'in/towns.json' } }
    expect((await run('x', '', body)).result).toMatchObject({ rows: 3 })
    const missing = { ...body, tableName: 'missing' }
    const file = await submit(worker, TASK, { ...missing, storagePath: { bucket: 'uploads', path: 'nope' } })
    expect(file).toMatchObject({ status: 404, body: { code: 'OBJECT_NOT_FOUND' } })
    const bucket = await submit(worker, TASK, { ...missing, storagePath: { bucket: 'nope', path: 'in/towns.json' } })
    expect(bucket).toMatchObject({ status: 404, body: { code: 'BUCKET_NOT_FOUND' } })
  })

  describe('hostile files are refused, with nothing left behind', () => {
    const vrt = (target: string) =>
      `<OGRVRTDataSource><OGRVRTLayer name="x"><SrcDataSource>${target}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>`
    const towns = { name: 'towns.json', data: Buffer.from(TOWNS) }
    const zeros = Buffer.alloc(1_500_000)
    const entities = '<!DOCTYPE kml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'

    test.each([
      { name: 'a VRT that names a local file', file: vrt('/etc/passwd'), code: 'FORMAT_UNKNOWN' },
      { name: 'a VRT that names an address', file: vrt('/vsicurl/http://127.0.0.1:1/x'), code: 'FORMAT_UNKNOWN' },
      {
        name: 'a VRT behind blanks, a comment and a byte order mark',
        file: `\u{feff}  <!-- kml -->\n${vrt('/etc/passwd')}`,
        code: 'FORMAT_UNKNOWN',
      },
      {
        name: 'a VRT behind a processing instruction',
        file: `<?xml version="1.0"?><?x <kml ?>${vrt('/etc/passwd')}`,
        code: 'FORMAT_UNKNOWN',
      },
      {
        name: 'a WFS data source',
        file: '<OGRWFSDataSource><URL>http://127.0.0.1:1/</URL></OGRWFSDataSource>',
        code: 'FORMAT_UNKNOWN',
      },
      {
        name: 'a raster VRT',
        file: '<VRTDataset rasterXSize="1" rasterYSize="1"></VRTDataset>',
        code: 'FORMAT_UNKNOWN',
      },
      { name: 'a connection string', file: 'PG:dbname=postgres,host=127.0.0.1', code: 'FORMAT_UNKNOWN' },
      {
        name: 'KML with entities',
        file: `<?xml version="1.0"?>${entities}<kml><name>&b;</name></kml>`,
        code: 'FORMAT_UNKNOWN',
      },
      {
        name: 'GML with an external entity',
        file: '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><gml:FeatureCollection/>',
        code: 'FORMAT_UNKNOWN',
      },
      {
        name: 'an SQLite database that is no GeoPackage',
        file: Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(100)]),
        code: 'FORMAT_UNKNOWN',
      },
      {
        name: 'a GeoPackage that is garbage',
        file: Buffer.concat([
          Buffer.from('SQLite format 3\0'),
          Buffer.alloc(52, 1),
          Buffer.from('GPKG'),
          Buffer.alloc(4000, 7),
        ]),
        code: 'CONVERSION_FAILED',
      },
      {
        name: 'a FlatGeobuf that is garbage',
        file: Buffer.concat([Buffer.from('fgb\u0003fgb\u0000', 'latin1'), Buffer.alloc(4000, 0xff)]),
        code: 'CONVERSION_FAILED',
      },
      { name: 'TopoJSON without objects', file: '{"type":"Topology","objects":{}}', code: 'CONVERSION_FAILED' },
      { name: 'JSON that is no GeoJSON', file: '{"a": 1}', code: 'FORMAT_UNKNOWN' },
      { name: 'GeoJSON that is cut off', file: TOWNS.slice(0, 150), code: 'CONVERSION_FAILED' },
      { name: 'HTML', file: '<html><body>404</body></html>', code: 'FORMAT_UNKNOWN' },
      { name: 'an image', file: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), code: 'FORMAT_UNKNOWN' },
      { name: 'an empty file', file: '', code: 'FORMAT_UNKNOWN' },
      {
        name: 'a Shapefile without its companions',
        file: Buffer.concat([
          Buffer.from('0000270a', 'hex'),
          Buffer.alloc(24),
          Buffer.from('e8030000', 'hex'),
          Buffer.alloc(100),
        ]),
        code: 'FORMAT_UNKNOWN',
      },
      { name: 'a file over the limit', file: Buffer.alloc(MAX_BYTES + 1, 32), code: 'DOWNLOAD_TOO_LARGE' },
      { name: 'a zip bomb by ratio', file: zip([{ name: 'a.csv', data: zeros }]), code: 'ZIP_REFUSED' },
      {
        name: 'a zip of more bytes than it claims',
        file: zip([{ name: 'a.csv', data: zeros, claimedSize: 1000 }]),
        code: 'ZIP_REFUSED',
      },
      {
        name: 'a zip of many files',
        file: zip(Array.from({ length: 10_001 }, (_, i) => ({ name: `${i}.json`, data: Buffer.of(49) }))),
        code: 'ZIP_REFUSED',
      },
      {
        name: 'a zip of shared bytes',
        file: zip([towns, { ...towns, name: 'b.json', claimedOffset: 0 }]),
        code: 'ZIP_REFUSED',
      },
      { name: 'a zip with a path upwards', file: zip([{ ...towns, name: '../../towns.json' }]), code: 'ZIP_REFUSED' },
      { name: 'a zip with an absolute path', file: zip([{ ...towns, name: '/tmp/towns.json' }]), code: 'ZIP_REFUSED' },
      { name: 'a zip with a path of Windows', file: zip([{ ...towns, name: '..\\towns.json' }]), code: 'ZIP_REFUSED' },
      {
        name: 'a zip with a link',
        file: zip([towns, { name: 'x.json', data: Buffer.from('/etc/passwd'), mode: 0o120777, store: true }]),
        code: 'ZIP_REFUSED',
      },
      {
        name: 'a zip with a name too long for a file',
        file: zip([{ ...towns, name: `${'a'.repeat(300)}.json` }]),
        code: 'ZIP_REFUSED',
      },
      { name: 'a zip with a password', file: zip([{ ...towns, flags: 1 }]), code: 'ZIP_REFUSED' },
      { name: 'a zip of an unknown method', file: zip([{ ...towns, method: 99 }]), code: 'ZIP_REFUSED' },
      { name: 'a zip with a wrong checksum', file: zip([{ ...towns, claimedCrc: 1 }]), code: 'ZIP_REFUSED' },
      { name: 'a zip that is cut off', file: zip([towns]).subarray(0, 100), code: 'ZIP_REFUSED' },
      { name: 'a zip that claims entries it lacks', file: zip([towns], 5), code: 'ZIP_REFUSED' },
      { name: 'a zip in a zip', file: zip([{ name: 'b.zip', data: zip([towns]) }]), code: 'FORMAT_UNKNOWN' },
      {
        name: 'a zip of a VRT',
        file: zip([{ name: 'towns.geojson', data: Buffer.from(vrt('/etc/passwd')) }]),
        code: 'FORMAT_UNKNOWN',
      },
      {
        name: 'a zip of a VRT that is called a Shapefile',
        file: zip([
          { name: 'a.shp', data: Buffer.from(vrt('/etc/passwd')) },
          { name: 'a.dbf', data: Buffer.from('x') },
        ]),
        code: 'CONVERSION_FAILED',
      },
      {
        name: 'a seamless MapInfo table',
        file: zip([{ name: 'a.tab', data: Buffer.from('!table\n"\\IsSeamless" = "TRUE"\n') }]),
        code: 'FORMAT_UNKNOWN',
      },
      {
        name: 'two files of one name in one zip',
        file: zip([towns, { ...towns, name: 'TOWNS.json' }]),
        code: 'ZIP_REFUSED',
      },
    ])('$name', async ({ file, code }) => {
      const done = await run('evil.geojson', file)
      expect(done).toMatchObject({ status: 'failed', error: { code } })
      expect(JSON.stringify(done.error)).not.toContain('root:')
      await expectNothingLeft(done.table)
    })

    test('GeoJSON whose reference system is an address makes no request', async () => {
      requested.length = 0
      const crs = { type: 'link', properties: { href: `${base}/crs`, type: 'proj4' } }
      await run('link.json', JSON.stringify({ ...(JSON.parse(TOWNS) as object), crs }))
      expect(requested).toEqual(['/link.json'])
    })
  })

  describe('at submit', () => {
    test.each([
      { name: 'no file', body: { fileUrl: undefined }, status: 422, code: 'FILE_REQUIRED' },
      { name: 'two files', body: { url: 'https://example.org/x' }, status: 422, code: 'FILE_REQUIRED' },
      {
        name: 'a table name with a quote',
        body: { tableName: 'a"; drop table x; --' },
        status: 422,
        code: 'VALIDATION_FAILED',
      },
      ...['terrane', 'terrane_staging', 'pgboss', 'geoembeddings', 'pg_catalog', 'auth', 'nowhere'].map((schema) => ({
        name: `schema ${schema}, which is not open,`,
        body: { schema },
        status: 422,
        code: 'SCHEMA_NOT_ALLOWED',
      })),
      { name: 'an open schema that is not there', body: { schema: 'opened' }, status: 404, code: 'SCHEMA_NOT_FOUND' },
      {
        name: 'a reference system that is text',
        body: { sourceSrs: '+proj=longlat' },
        status: 422,
        code: 'VALIDATION_FAILED',
      },
      { name: 'a field with a comma', body: { fields: ['a,b'] }, status: 422, code: 'VALIDATION_FAILED' },
      { name: 'a layer that looks like an option', body: { layer: '-sql' }, status: 422, code: 'VALIDATION_FAILED' },
      { name: 'SQL', body: { sql: 'select 1' }, status: 422, code: 'VALIDATION_FAILED' },
      { name: 'rows for a table that is missing', body: { mode: 'append' }, status: 404, code: 'TABLE_NOT_FOUND' },
    ])('$name is refused', async ({ body, status, code }) => {
      const answer = await submit(worker, TASK, { fileUrl: `${base}/x`, tableName: 'refused', ...body })
      expect([answer.status, answer.body.code]).toEqual([status, code])
    })

    test('a table that exists is refused with 409', async () => {
      await query('create table if not exists taken_table ()')
      const answer = await submit(worker, TASK, { fileUrl: `${base}/x`, tableName: 'taken_table' })
      expect([answer.status, answer.body.code]).toEqual([409, 'TABLE_EXISTS'])
    })

    test.each(['http://127.0.0.1:9/x', 'https://10.1.2.3/x', 'file:///etc/passwd', 'https://169.254.169.254/latest'])(
      'the address %s is refused before a job is queued',
      async (url) => {
        expect(await submit(worker, TASK, { url, tableName: 'refused' })).toMatchObject({
          status: 422,
          body: { code: 'URL_REFUSED', errors: [{ path: '/url' }] },
        })
      },
    )
  })
})
