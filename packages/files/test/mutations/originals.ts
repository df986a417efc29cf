import { Float64, Int32, Table, Utf8, tableToIPC, vectorFromArray, Binary } from 'apache-arrow'
import { wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core'
import { convertTo, filesOf } from '@terrane/testing/files'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { fromBufferPromise } from 'yauzl'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { ZipEntry } from './mutate.ts'

const ROWS = 24

/** A file to be mutated: its bytes, or the entries of an archive, which are mutated one by one and packed again. */
export type Original = Buffer | readonly ZipEntry[]

const SHAPES: readonly GeoJsonGeometry[] = Array.from({ length: ROWS }, (_, i) => {
  const ring = [[i, 0], [i, 4], [i + 4, 4], [i + 4, 0], [i, 0]] // prettier-ignore
  if (i % 3 === 0) return { type: 'Point', coordinates: [i, i / 2] }
  return i % 3 === 1 ? { type: 'LineString', coordinates: ring } : { type: 'Polygon', coordinates: [ring] }
})
const propertiesOf = (i: number) => ({ id: i, name: `row ${i} ß`, size: i * 1.5, day: `2024-01-${10 + (i % 20)}` })

function geojson(kind: string | null): string {
  const features = SHAPES.map((geometry, i) => ({ type: 'Feature', properties: propertiesOf(i), geometry }))
  return JSON.stringify({
    type: 'FeatureCollection',
    features: features.filter(({ geometry }) => kind === null || geometry.type === kind),
  })
}

/** One small whole file of each format that is read or converted. */
export async function originals(): Promise<Readonly<Record<string, Original>>> {
  const [all, points, polygons] = [geojson(null), geojson('Point'), geojson('Polygon')]
  const kml = await convertTo('KML', all)
  return {
    GeoJSON: Buffer.from(all),
    GeoJSONSeq: await convertTo('GeoJSONSeq', all),
    TopoJSON: Buffer.from(TOPOLOGY),
    CSV: await convertTo('CSV', all, ['-lco', 'GEOMETRY=AS_WKT']),
    GPX: await convertTo('GPX', points, ['-dsco', 'GPX_USE_EXTENSIONS=YES']),
    GML: await convertTo('GML', all, [], '.xsd'),
    GeoRSS: await convertTo('GeoRSS', points, ['-dsco', 'USE_EXTENSIONS=YES']),
    KML: kml,
    KMZ: [{ name: 'doc.kml', data: kml }],
    GPKG: await convertTo('GPKG', all),
    SQLite: await convertTo('SQLite', all, ['-dsco', 'SPATIALITE=YES', '-dsco', 'INIT_WITH_EPSG=NO']),
    FlatGeobuf: await convertTo('FlatGeobuf', all),
    Parquet: parquet(),
    Arrow: arrow(),
    Shapefile: await filesOf('ESRI Shapefile', polygons),
    MapInfo: await filesOf('MapInfo File', polygons),
    MIF: await filesOf('MapInfo File', polygons, ['-dsco', 'FORMAT=MIF']),
    Geodatabase: (await filesOf('OpenFileGDB', polygons)).map(({ name, data }) => ({
      name: name.replace(/^.*\//, 'new.gdb/'),
      data,
    })),
    XLSX: await entriesOf(await convertTo('XLSX', all)),
    ODS: await entriesOf(await convertTo('ODS', all)),
    DXF: await convertTo('DXF', geojson('LineString').replaceAll(/"properties":\{[^}]*\}/g, '"properties":{}')),
    DGN: await convertTo('DGN', geojson('LineString').replaceAll(/"properties":\{[^}]*\}/g, '"properties":{}')),
    OSM: Buffer.from(OSM),
    EsriJSON: Buffer.from(ESRI),
    gzip: gzipSync(all),
  }
}

/** The files of an archive. */
async function entriesOf(archive: Buffer): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = []
  const opened = await fromBufferPromise(archive, { lazyEntries: true })
  for await (const entry of opened.eachEntry()) {
    const stream = await opened.openReadStreamPromise(entry)
    entries.push({ name: entry.fileName, data: await buffer(stream) })
  }
  return entries
}

function parquet(): Buffer {
  const geo = {
    version: '1.1.0',
    primary_column: 'geometry',
    columns: { geometry: { encoding: 'WKB', geometry_types: [] } },
  }
  return Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'id', data: SHAPES.map((_, i) => i), type: 'INT32' },
        { name: 'name', data: SHAPES.map((_, i) => propertiesOf(i).name), type: 'STRING' },
        { name: 'size', data: SHAPES.map((_, i) => propertiesOf(i).size), type: 'DOUBLE' },
        { name: 'geometry', data: SHAPES.map((shape) => wkbOfGeoJson(shape)), type: 'BYTE_ARRAY' },
      ],
      kvMetadata: [{ key: 'geo', value: JSON.stringify(geo) }],
    }),
  )
}

function arrow(): Buffer {
  const table = new Table({
    id: vectorFromArray(
      SHAPES.map((_, i) => i),
      new Int32(),
    ),
    name: vectorFromArray(
      SHAPES.map((_, i) => propertiesOf(i).name),
      new Utf8(),
    ),
    lon: vectorFromArray(
      SHAPES.map((_, i) => i / 2),
      new Float64(),
    ),
    lat: vectorFromArray(
      SHAPES.map((_, i) => i / 3),
      new Float64(),
    ),
    raw: vectorFromArray(
      SHAPES.map((shape) => wkbOfGeoJson(shape)),
      new Binary(),
    ),
  })
  return Buffer.from(tableToIPC(table, 'file'))
}

const TOPOLOGY = JSON.stringify({
  type: 'Topology',
  transform: { scale: [0.1, 0.1], translate: [9, 48] },
  arcs: [[[0, 0], [10, 0], [0, 10], [-10, 0], [0, -10]], [[20, 20], [5, 5]]], // prettier-ignore
  objects: {
    areas: {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Polygon', arcs: [[0]], properties: { name: 'a' } },
        { type: 'LineString', arcs: [1], properties: { name: 'b' } },
        { type: 'Point', coordinates: [4, 4], properties: { name: 'c' } },
      ],
    },
  },
})

const OSM = `<?xml version="1.0"?><osm version="0.6">${Array.from(
  { length: ROWS },
  (_, i) => `<node id="${i + 1}" lat="${48 + i / 100}" lon="${9 + i / 90}"><tag k="name" v="n${i}"/></node>`,
).join('')}<way id="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="path"/></way>
<way id="2"><nd ref="4"/><nd ref="5"/><nd ref="6"/><nd ref="4"/><tag k="building" v="yes"/></way>
<relation id="1"><member type="way" ref="2" role="outer"/><tag k="type" v="multipolygon"/></relation></osm>`

const ESRI = JSON.stringify({
  geometryType: 'esriGeometryPolygon',
  spatialReference: { wkid: 4326 },
  fields: [
    { name: 'id', type: 'esriFieldTypeInteger' },
    { name: 'name', type: 'esriFieldTypeString', length: 20 },
  ],
  features: Array.from({ length: ROWS }, (_, i) => ({
    attributes: { id: i, name: `n${i}` },
    geometry: { rings: [[[i, 0], [i, 1], [i + 1, 1], [i, 0]]] }, // prettier-ignore
  })),
})
