import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFile } from './import-file.ts'
import { convertTo, removeFormats } from '@terrane/testing/files'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await removeFormats()
})

const imported = async (file: string | Buffer, options: object = {}) =>
  importFile(db.database, typeof file === 'string' ? Buffer.from(file) : file, options)
const rowsOf = async (table: string, columns: string) =>
  (await db.database.query(`select ${columns} from ${table} order by id`)).rows

test('JSON of Esri keeps types and moves to the target system', async () => {
  const ring = [
    [0, 0],
    [0, 111_319.49079327357],
    [111_319.49079327357, 111_319.49079327357],
    [0, 0],
  ]
  const { tables, warnings } = await imported(
    JSON.stringify({
      geometryType: 'esriGeometryPolygon',
      spatialReference: { wkid: 102_100, latestWkid: 3857 },
      fields: [
        { name: 'n', type: 'esriFieldTypeString', length: 20 },
        { name: 'v', type: 'esriFieldTypeDouble' },
        { name: 'd', type: 'esriFieldTypeDate' },
      ],
      features: [
        { attributes: { n: 'é', v: 1.5, d: 1_700_000_000_000 }, geometry: { rings: [ring] } },
        { attributes: { n: null, v: null, d: null } },
      ],
    }),
  )
  const [made] = tables
  expect(made!.columns.map(({ type }) => type)).toEqual(['text', 'float8', 'timestamptz'])
  expect(
    await rowsOf(
      made!.table,
      'n, v, round(st_xmax(geom)::numeric, 6)::float8 as east, d = to_timestamp(1700000000) as d',
    ),
  ).toEqual([
    { n: 'é', v: 1.5, east: 1, d: true },
    { n: null, v: null, east: null, d: null },
  ])
  expect(warnings).toEqual([])
})

test.each([
  [
    'Atom with GeoRSS',
    `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss"><title>t</title>
      <entry><title>A</title><georss:point>2 1</georss:point></entry></feed>`,
  ],
  [
    'RSS with positions of the W3C',
    `<rss version="2.0" xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#"><channel><title>t</title>
      <item><title>A</title><geo:lat>2</geo:lat><geo:long>1</geo:long></item></channel></rss>`,
  ],
])('%s becomes a table of its entries', async (_, feed) => {
  const { tables } = await imported(feed)
  expect(await rowsOf(tables[0]!.table, 'title, st_astext(geom) as geom')).toEqual([{ title: 'A', geom: 'POINT(1 2)' }])
})

test('a feed without positions says so', async () => {
  const feed = '<rss version="2.0"><channel><title>t</title><item><title>A</title></item></channel></rss>'
  await expect(imported(feed)).rejects.toMatchObject({
    code: 'FORMAT_UNKNOWN',
    message: 'The file cannot be imported: it is a feed without positions',
  })
})

test.each([
  ['it is a binary DXF: save it as text', 'AutoCAD Binary DXF\r\n\u001a\0'],
  ['it is a drawing in DWG: save it as DXF', 'AC1032\0\0\0\0'],
])('a file that another program can turn into one of ours says how: %s', async (reason, head) => {
  await expect(imported(head)).rejects.toMatchObject({
    code: 'FORMAT_UNKNOWN',
    message: `The file cannot be imported: ${reason}`,
  })
})

test('OpenStreetMap XML becomes layers of points, lines and areas', async () => {
  const nodes = [
    [1, 0, 0],
    [2, 1, 0],
    [3, 1, 1],
  ].map(([id, lon, lat]) => `<node id="${id}" version="1" lon="${lon}" lat="${lat}"/>`)
  const refs = (...ids: number[]) => ids.map((id) => `<nd ref="${id}"/>`).join('')
  const { tables } = await imported(
    `<?xml version="1.0"?><osm version="0.6">${nodes.join('')}
      <node id="4" version="1" lon="5" lat="6"><tag k="name" v="Zoë"/><tag k="amenity" v="cafe"/></node>
      <way id="9" version="1">${refs(1, 2, 3)}<tag k="highway" v="service"/></way>
      <way id="10" version="1">${refs(1, 2, 3, 1)}<tag k="building" v="yes"/></way></osm>`,
  )
  expect(tables.map(({ layer, rows, geometry_type: type }) => [layer, rows, type])).toEqual([
    ['points', 1, 'Point'],
    ['lines', 1, 'MultiLineString'],
    ['multipolygons', 1, 'MultiPolygon'],
  ])
  expect(await rowsOf(tables[0]!.table, 'osm_id, name, st_astext(geom) as geom')).toEqual([
    { osm_id: '4', name: 'Zoë', geom: 'POINT(5 6)' },
  ])
})

test('a drawing in DGN is imported with the system that the request names', async () => {
  const line = { type: 'LineString', coordinates: [[1, 2], [3, 4]] } // prettier-ignore
  const features = [{ type: 'Feature', properties: {}, geometry: line }]
  const drawing = await convertTo('DGN', JSON.stringify({ type: 'FeatureCollection', features }))
  const { tables } = await imported(drawing, { sourceSrs: 'EPSG:4326' })
  expect(await rowsOf(tables[0]!.table, 'st_astext(st_force2d(geom)) as geom')).toEqual([
    { geom: 'MULTILINESTRING((1 2,3 4))' },
  ])
})

test('GML without the identifiers that its schema demands is read', async () => {
  const member = (name: string, fid: string) =>
    `<gml:featureMember><a:spot${fid}><a:name>${name}</a:name><a:place><gml:Point srsName="EPSG:4326"><gml:coordinates>1,2</gml:coordinates></gml:Point></a:place></a:spot></gml:featureMember>`
  const { tables } = await imported(
    `<c xmlns="http://www.opengis.net/wfs" xmlns:a="http://a.example" xmlns:gml="http://www.opengis.net/gml">${member('x', '')}${member('y', ' fid="s.2"')}</c>`,
  )
  expect(await rowsOf(tables[0]!.table, 'name, st_astext(geom) as geom')).toEqual([
    { name: 'x', geom: 'POINT(1 2)' },
    { name: 'y', geom: 'POINT(1 2)' },
  ])
})

test('KML of links alone says what it lacks', async () => {
  const kml =
    '<kml xmlns="http://www.opengis.net/kml/2.2"><NetworkLink><Link><href>other.kml</href></Link></NetworkLink></kml>'
  await expect(imported(kml)).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: 'The file could not be read: it has no placemarks, only styles, overlays or links to other files',
  })
})
