import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { Binary, Field, Float64, List, Table, TimestampMillisecond, tableToIPC, vectorFromArray } from 'apache-arrow'
import { parquetWriteBuffer, type ColumnSource } from 'hyparquet-writer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFile } from './import-file.ts'
import { filesOf, removeFormats, workbook, zip } from '@terrane/testing/files'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await removeFormats()
})

const imported = (file: string | Buffer, options: object = {}) =>
  importFile(db.database, typeof file === 'string' ? Buffer.from(file) : file, options)
const typesOf = ({ columns }: { columns: readonly { name: string; type: string }[] }) =>
  Object.fromEntries(columns.map(({ name, type }) => [name, type]))
const rowsOf = async (table: string, columns: string) =>
  (await db.database.query(`select ${columns} from ${table} order by id`)).rows

test('a table of text is stored as people mean it', async () => {
  const text =
    "sep=;\nname;lat;lon;hoehe;plz;telefon;datum;anteil\nA;48,137;11,575;519,25;01067;+4915112345678;31.12.2024;12 %\nB;52°30'N;13°30'E;34,0;80331;+34123456789;1.1.2025;7 %\n"
  const { tables, warnings } = await imported(text)
  expect(typesOf(tables[0]!)).toEqual({
    name: 'text',
    lat: 'text',
    lon: 'text',
    hoehe: 'float8',
    plz: 'text',
    telefon: 'text',
    datum: 'date',
    anteil: 'text',
  })
  expect(
    await rowsOf(tables[0]!.table, 'hoehe, plz, telefon, datum::text as datum, anteil, st_astext(geom) as geom'),
  ).toEqual([
    {
      hoehe: 519.25,
      plz: '01067',
      telefon: '+4915112345678',
      datum: '2024-12-31',
      anteil: '12 %',
      geom: 'POINT(11.575 48.137)',
    },
    { hoehe: 34, plz: '80331', telefon: '+34123456789', datum: '2025-01-01', anteil: '7 %', geom: 'POINT(13.5 52.5)' },
  ])
  expect(warnings).toMatchObject([{ code: 'VALUES_NOT_PLAIN', examples: ['anteil'] }])
})

test('the caller decides the types of columns', async () => {
  const text = 'a,b,c\n1.10,ja,3\n1.9,vielleicht,4\n'
  const { tables, warnings } = await imported(text, { types: { a: 'text', B: 'bool' } })
  expect(await rowsOf(tables[0]!.table, 'a, b, c')).toEqual([
    { a: '1.10', b: true, c: 3 },
    { a: '1.9', b: null, c: 4 },
  ])
  expect(warnings).toMatchObject([{ code: 'VALUES_UNREADABLE', count: 1, examples: [2] }])
  const json = JSON.stringify({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: null, properties: { code: 12, day: '2024-02-29', part: '0.5' } }],
  })
  const other = await imported(json, { types: { code: 'text', day: 'text', part: 'float8' } })
  expect(await rowsOf(other.tables[0]!.table, 'code, day, part')).toEqual([
    { code: '12', day: '2024-02-29', part: 0.5 },
  ])
  await expect(imported(text, { types: { d: 'text' } })).rejects.toMatchObject({ code: 'TYPES_UNKNOWN' })
})

test('times without a zone are those of a clock, and stay so', async () => {
  const { tables } = await imported('local,world\n2024-02-29 13:45:10,2024-02-29T13:45:10+01:00\n')
  expect(typesOf(tables[0]!)).toEqual({ local: 'timestamp', world: 'timestamptz' })
  const texts = await rowsOf(tables[0]!.table, `local::text as local, (world at time zone 'UTC')::text as world`)
  expect(texts).toEqual([{ local: '2024-02-29 13:45:10', world: '2024-02-29 12:45:10' }])
})

test('days of a workbook keep their time of day, whatever their format', async () => {
  const value = 45_351.573_032_407_41
  const formats = [
    'yyyy-mm-dd h:mm:ss',
    'dd.mm.yyyy h:mm',
    'm/d/yy h:mm AM/PM',
    '[$-407]d. mmm yy" um "h',
    'd\\.m\\.yyyy',
  ]
  const clocks = ['h:mm:ss', '[$-F400]h:mm:ss AM/PM']
  const others = ['0.00" h"', '[h]:mm']
  const all = [...formats, ...clocks, ...others]
  const { tables, warnings } = await imported(
    workbook([
      ['name', ...all.map((_, i) => `c${i}`)],
      ['A', ...all.map((format) => ({ value, format }))],
    ]),
  )
  const types = typesOf(tables[0]!)
  expect(all.map((_, i) => types[`c${i}`])).toEqual([
    ...Array.from({ length: 4 }, () => 'timestamp'),
    'date',
    'time',
    'time',
    'float8',
    'float8',
  ])
  const [row] = await rowsOf(tables[0]!.table, all.map((_, i) => `c${i}::text`).join(', '))
  expect(Object.values(row!).slice(0, 7)).toEqual([
    ...Array.from({ length: 4 }, () => '2024-02-29 13:45:10'),
    '2024-02-29',
    '13:45:10',
    '13:45:10',
  ])
  expect(warnings).toEqual([])
})

const point = (x: number, y: number) => {
  const wkb = Buffer.alloc(21)
  wkb[0] = 1
  wkb.writeUInt32LE(1, 1)
  wkb.writeDoubleLE(x, 5)
  wkb.writeDoubleLE(y, 13)
  return new Uint8Array(wkb)
}
const parquet = (columnData: ColumnSource[], options: object = {}) =>
  Buffer.from(parquetWriteBuffer({ columnData, ...options }))

test('Parquet without metadata of geometries has those that its columns hold', async () => {
  const lonLat = await imported(
    parquet([
      { name: 'lon', data: [1, 2], type: 'DOUBLE' },
      { name: 'lat', data: [3, 4], type: 'DOUBLE' },
    ]),
  )
  expect(await rowsOf(lonLat.tables[0]!.table, 'lon, st_astext(geom) as geom')).toEqual([
    { lon: 1, geom: 'POINT(1 3)' },
    { lon: 2, geom: 'POINT(2 4)' },
  ])
  expect(lonLat.warnings).toEqual([])
  const file = parquet([
    { name: 'picture', data: [new Uint8Array([1, 2]), new Uint8Array([1, 1, 0, 0, 0])], type: 'BYTE_ARRAY' },
    { name: 'shape', data: [point(1, 2), null], type: 'BYTE_ARRAY' },
  ])
  const wkb = await imported(file)
  expect(await rowsOf(wkb.tables[0]!.table, 'octet_length(picture) as bytes, st_astext(geom) as geom')).toEqual([
    { bytes: 2, geom: 'POINT(1 2)' },
    { bytes: 5, geom: null },
  ])
  expect(wkb.warnings).toMatchObject([{ code: 'SYSTEM_ASSUMED', examples: ['shape'] }])
  const moved = await imported(file, { sourceSrs: 'EPSG:3857' })
  expect(moved).toMatchObject({ tables: [{ srid: 4326, geometry_type: 'Point' }], warnings: [] })
  const wkt = await imported(parquet([{ name: 'outline', data: ['POINT(1 2)', 'POINT(3 4)'], type: 'STRING' }]))
  expect(wkt.tables).toMatchObject([{ geometry_type: 'Point', columns: [] }])
})

test('a second geometry of Parquet is said, and numbers keep what they are', async () => {
  const columns = { geometry: { encoding: 'WKB', geometry_types: [] }, centre: { encoding: 'WKB', geometry_types: [] } }
  const geo = JSON.stringify({ version: '1.1.0', primary_column: 'geometry', columns })
  const { tables, warnings } = await imported(
    parquet(
      [
        { name: 'd', data: [Number.NaN], type: 'DOUBLE' },
        { name: 'geometry', data: [point(1, 2)], type: 'BYTE_ARRAY' },
        { name: 'centre', data: [point(3, 4)], type: 'BYTE_ARRAY' },
      ],
      { kvMetadata: [{ key: 'geo', value: geo }] },
    ),
  )
  expect(
    await rowsOf(tables[0]!.table, 'd::text as d, st_astext(geom) as geom, st_astext(centre::geometry) as centre'),
  ).toEqual([{ d: 'NaN', geom: 'POINT(1 2)', centre: 'POINT(3 4)' }])
  expect(warnings).toMatchObject([{ code: 'GEOMETRIES_LEFT', examples: ['centre'] }])
})

test('Arrow has geometries, local times and numbers as its columns hold them', async () => {
  const table = new Table({
    list: vectorFromArray([[1, Number.NaN]], new List(new Field('item', new Float64()))),
    local: vectorFromArray([1_709_214_310_000], new TimestampMillisecond()),
    place: vectorFromArray([point(1, 2)], new Binary()),
  })
  const { tables, warnings } = await imported(Buffer.from(tableToIPC(table)))
  expect(typesOf(tables[0]!)).toEqual({ list: 'jsonb', local: 'timestamp' })
  expect(await rowsOf(tables[0]!.table, 'list, local::text as local, st_astext(geom) as geom')).toEqual([
    { list: [1, null], local: '2024-02-29 13:45:10', geom: 'POINT(1 2)' },
  ])
  expect(warnings.map(({ code }) => code).toSorted()).toEqual(['NUMBERS_NOT_FINITE', 'SYSTEM_ASSUMED'])
})

test('times of Parquet without a zone stay local, and intervals become durations', async () => {
  const interval = new Uint8Array(Buffer.from('0e000000020000005e0b0000', 'hex'))
  const file = parquet(
    [
      { name: 'local', data: [new Date('2024-02-29T13:45:10Z')] },
      { name: 'world', data: [new Date('2024-02-29T13:45:10Z')] },
      { name: 'span', data: [interval] },
    ],
    {
      schema: [
        { name: 'root', num_children: 3 },
        {
          name: 'local',
          type: 'INT64',
          repetition_type: 'OPTIONAL',
          logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MILLIS' },
        },
        {
          name: 'world',
          type: 'INT64',
          repetition_type: 'OPTIONAL',
          logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
        },
        {
          name: 'span',
          type: 'FIXED_LEN_BYTE_ARRAY',
          type_length: 12,
          repetition_type: 'OPTIONAL',
          converted_type: 'INTERVAL',
        },
      ],
    },
  )
  const { tables } = await imported(file)
  expect(typesOf(tables[0]!)).toEqual({ local: 'timestamp', world: 'timestamptz', span: 'text' })
  expect(
    await rowsOf(
      tables[0]!.table,
      'local::text as local, span, span::interval = interval $$14 months 2 days 2.91 seconds$$ as equal',
    ),
  ).toEqual([{ local: '2024-02-29 13:45:10', span: 'P14M2DT2.91S', equal: true }])
})

test('nanoseconds are cut with a warning that names their column', async () => {
  const file = parquet([{ name: 'at', data: [1_709_214_310_123_456_789n, 1_709_214_310_000_000_000n] }], {
    schema: [
      { name: 'root', num_children: 1 },
      {
        name: 'at',
        type: 'INT64',
        repetition_type: 'OPTIONAL',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' },
      },
    ],
  })
  const text = 'at\tn\n2024-02-29T13:45:10.123456789\t1\n2024-02-29T13:45:10.000000000\t2\n'
  for (const source of [file, text]) {
    const { tables, warnings } = await imported(source)
    expect(await rowsOf(tables[0]!.table, 'at::text')).toEqual([
      { at: '2024-02-29 13:45:10.123456' },
      { at: '2024-02-29 13:45:10' },
    ])
    expect(warnings).toMatchObject([
      { code: 'TIMES_CUT', count: 1, message: expect.stringContaining('as in at.') as string },
    ])
  }
})

const file = (name: string, text: string) => ({ name, data: Buffer.from(text) })
const kml = (content: string) => `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${content}</Document></kml>`
const placemark = (name: string) =>
  `<Placemark><name>${name}</name><Point><coordinates>1,2</coordinates></Point></Placemark>`
const link = (href: string) => `<NetworkLink><Link><href>${href}</href></Link></NetworkLink>`

test('a KMZ has the layers that its document links to, and names those that it does not', async () => {
  const links = ['layers/b%20one.kml', './layers/c.kml', 'https://example.org/d.kml'].map(link).join('')
  const linked = await imported(
    zip([
      file('doc.kml', kml(links)),
      file('layers/b one.kml', kml(placemark('B'))),
      file('layers/c.kml', kml(placemark('C') + link('e.kml'))),
      file('layers/e.kml', kml(placemark('E'))),
      file('layers/unlinked.kml', kml(placemark('U'))),
      file('files/icon.png', 'picture'),
    ]),
  )
  expect(linked.tables.map(({ layer, rows }) => [layer, rows])).toEqual([
    ['b one', 1],
    ['c', 1],
    ['e', 1],
  ])
  expect(linked.warnings).toMatchObject([
    { code: 'FILES_SKIPPED', examples: ['unlinked.kml'] },
    { code: 'OVERLAYS_LEFT_OUT', layer: 'c' },
  ])
  const plain = await imported(zip([file('a.kml', kml(placemark('A'))), file('b.kml', kml(placemark('B')))]))
  expect(plain.tables.map(({ layer }) => layer)).toEqual(['a', 'b'])
})

test('a timetable in GTFS becomes its tables, with identifiers as texts', async () => {
  const { tables, warnings } = await imported(
    zip([
      file('agency.txt', 'agency_id,agency_name\n1,A\n'),
      file('stops.txt', '\u{feff}stop_id,stop_name,stop_lat,stop_lon\n12,Harbour,48.1,11.5\n'),
      file('stop_times.txt', 'trip_id,arrival_time,stop_id,stop_sequence\n7,25:10:00,12,1\n'),
      file('readme.txt', 'Timetable of a town.\nSee the page.\n'),
    ]),
  )
  const table = (layer: string) => tables.find((one) => one.layer === layer)!
  expect(tables.map(({ layer }) => layer).toSorted()).toEqual(['agency', 'stop_times', 'stops'])
  expect(typesOf(table('stop_times'))).toEqual({
    trip_id: 'text',
    arrival_time: 'text',
    stop_id: 'text',
    stop_sequence: 'int4',
  })
  expect(await rowsOf(table('stops').table, 'stop_id, st_astext(geom) as geom')).toEqual([
    { stop_id: '12', geom: 'POINT(11.5 48.1)' },
  ])
  expect(warnings).toMatchObject([{ code: 'FILES_SKIPPED', examples: ['readme.txt'] }])
})

const gml = (system: string, members: string) =>
  `<c:FeatureCollection xmlns:c="http://c.example" xmlns:gml="http://www.opengis.net/gml/3.2">${members.replaceAll('SYSTEM', system)}</c:FeatureCollection>`
const spot = (id: number, rest: string) =>
  `<c:featureMember><c:spot gml:id="s.${id}"><gml:boundedBy><gml:Envelope srsName="SYSTEM"><gml:lowerCorner>690000 5330000</gml:lowerCorner><gml:upperCorner>690000 5330000</gml:upperCorner></gml:Envelope></gml:boundedBy><c:place><gml:Point srsName="SYSTEM" gml:id="p.${id}"><gml:pos>690000 5330000</gml:pos></gml:Point></c:place>${rest}</c:spot></c:featureMember>`
const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:c="http://c.example">
  <xs:simpleType name="Code"><xs:restriction base="xs:string"/></xs:simpleType>
  <xs:complexType name="spotType"><xs:sequence>
    <xs:element name="code" type="c:Code"/>
    <xs:element name="number" nillable="true"><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="9"/></xs:restriction></xs:simpleType></xs:element>
    <xs:element name="day" type="xs:date"/><xs:element name="share" type="xs:double"/><xs:element name="at" type="xs:dateTime"/>
  </xs:sequence></xs:complexType></xs:schema>`

test('GML has dates and times, the types of the schema beside it, and no columns of boxes', async () => {
  const rest =
    '<c:code>12</c:code><c:number>7</c:number><c:day>2024-02-29</c:day><c:share>1</c:share><c:at>2024-02-29T12:34:56Z</c:at>'
  const text = gml('urn:ogc:def:crs:EPSG::25832', spot(1, rest) + spot(2, rest))
  const bare = await imported(text)
  const types = { gml_id: 'text', code: 'int4', number: 'int4', day: 'date', share: 'int4', at: 'timestamptz' }
  expect(typesOf(bare.tables[0]!)).toEqual(types)
  const { tables, warnings } = await imported(zip([file('spots.gml', text), file('spots.xsd', schema)]))
  expect(typesOf(tables[0]!)).toEqual({ ...types, code: 'text', number: 'text', share: 'float8' })
  expect(await rowsOf(tables[0]!.table, 'code, day::text as day, round(st_x(geom)::numeric, 4)::float8 as x')).toEqual([
    { code: '12', day: '2024-02-29', x: 11.5518 },
    { code: '12', day: '2024-02-29', x: 11.5518 },
  ])
  expect(warnings).toEqual([])
})

test('a schema beside a GML keeps digits of decimals, and zones of days and times', async () => {
  const [decimal, day, time] = ['123456789012345678.25', '2024-01-01Z', '12:00:00+01:00']
  const rest = `<c:exact>${decimal}</c:exact><c:day>${day}</c:day><c:time>${time}</c:time>`
  const text = gml('urn:ogc:def:crs:EPSG::25832', spot(1, rest) + spot(2, '<c:exact>1</c:exact>'))
  const elements = ['exact decimal', 'day date', 'time time'].map((one) => one.split(' '))
  const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${elements.map(([name, type]) => `<xs:element name="${name}" type="xs:${type}"/>`).join('')}</xs:schema>`
  const { tables, warnings } = await imported(zip([file('spots.gml', text), file('spots.xsd', xsd)]))
  expect(typesOf(tables[0]!)).toEqual({ gml_id: 'text', exact: 'numeric', day: 'text', time: 'text' })
  expect(await rowsOf(tables[0]!.table, 'exact::text as exact, day, time')).toEqual([
    { exact: decimal, day, time },
    { exact: '1', day: null, time: null },
  ])
  expect(warnings).toEqual([])
})

test.each([
  ['damaged', schema.slice(0, 300)],
  ['something else', 'not a schema'],
])('a schema beside a GML that is %s is a warning, and types are those of the values', async (_, xsd) => {
  const text = gml('urn:ogc:def:crs:EPSG::25832', spot(1, '<c:code>12</c:code>'))
  const { tables, warnings } = await imported(zip([file('spots.gml', text), file('spots.xsd', xsd)]))
  expect(typesOf(tables[0]!)).toEqual({ gml_id: 'text', code: 'int4' })
  expect(warnings).toMatchObject([{ code: 'SCHEMA_UNREADABLE', examples: ['spots.xsd'] }])
})

test.each([
  ['urn:adv:crs:ETRS89_UTM32', 11.5518],
  ['urn:adv:crs:ETRS89_UTM33', 17.5518],
])('the German surveys name systems in a way of their own: %s', async (system, x) => {
  const { tables } = await imported(gml(system, spot(1, '<c:code>a</c:code>')))
  expect(await rowsOf(tables[0]!.table, 'st_srid(geom) as srid, round(st_x(geom)::numeric, 4)::float8 as x')).toEqual([
    { srid: 4326, x },
  ])
})

test('a reference system with an unknown name has to be named by the request', async () => {
  await expect(imported(gml('urn:adv:crs:DE_X', spot(1, '')))).rejects.toMatchObject({ code: 'SOURCE_SRS_NEEDED' })
})

test('a layer without a reference system does not keep others out, and sourceSrs is for it alone', async () => {
  const collection = (x: number, y: number) =>
    JSON.stringify({
      type: 'FeatureCollection',
      features: [{ type: 'Feature', properties: { a: 1 }, geometry: { type: 'Point', coordinates: [x, y] } }],
    })
  const bare = (await filesOf('ESRI Shapefile', collection(690_000, 5_330_000), ['-a_srs', 'EPSG:25832']))
    .filter(({ name }) => !name.endsWith('.prj'))
    .map(({ name, data }) => ({ name: `bare.${name.split('.').at(-1)}`, data }))
  const both = zip([...bare, file('placed.geojson', collection(11, 48))])
  const some = await imported(both)
  expect(some.tables.map(({ layer }) => layer)).toEqual(['placed'])
  expect(some.warnings).toMatchObject([{ code: 'LAYERS_WITHOUT_SYSTEM', examples: ['bare'] }])
  const all = await imported(both, { sourceSrs: 'EPSG:25832' })
  const places = await Promise.all(
    all.tables.map(({ table }) => rowsOf(table, 'round(st_x(geom)::numeric, 4)::float8 as x')),
  )
  expect(places.flat()).toEqual([{ x: 11.5518 }, { x: 11 }])
  expect(all.warnings).toEqual([])
  await expect(imported(both, { layer: 'bare' })).rejects.toMatchObject({ code: 'SOURCE_SRS_NEEDED' })
})
