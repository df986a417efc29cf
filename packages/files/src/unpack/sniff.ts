import { open } from 'node:fs/promises'
import { formatUnknown } from '../errors.ts'
import { checkTable } from './text-table.ts'
import { isTar } from './untar.ts'

/** A format that can be imported, by the name of GDAL's driver for it. */
export type Driver =
  | 'GeoJSON'
  | 'GeoJSONSeq'
  | 'GPKG'
  | 'SQLite'
  | 'FlatGeobuf'
  | 'ESRI Shapefile'
  | 'CSV'
  | 'KML'
  | 'GML'
  | 'GPX'
  | 'MapInfo File'
  | 'TopoJSON'
  | 'XLSX'
  | 'ODS'
  | 'OpenFileGDB'
  | 'DXF'
  | 'Parquet'
  | 'Arrow'
  | 'ESRIJSON'
  | 'GeoRSS'
  | 'OSM'
  | 'DGN'

/** Content of a file: a format, a dBASE table (read by the driver for Shapefiles), or an archive. */
export type Content = Driver | 'DBF' | 'zip' | 'gzip' | 'tar'

/** Formats that can be imported from a single file. */
export type FileContent = Exclude<Content, 'zip' | 'gzip' | 'tar'>

export function driverOf(content: FileContent): Driver {
  return content === 'DBF' ? 'ESRI Shapefile' : content
}

/** The file extension that each driver requires. */
export const EXTENSIONS: Readonly<Record<FileContent, string>> = {
  DBF: 'dbf',
  GeoJSON: 'geojson',
  GeoJSONSeq: 'geojsonl',
  GPKG: 'gpkg',
  SQLite: 'sqlite',
  FlatGeobuf: 'fgb',
  'ESRI Shapefile': 'shp',
  CSV: 'csv',
  KML: 'kml',
  GML: 'gml',
  GPX: 'gpx',
  'MapInfo File': 'tab',
  TopoJSON: 'topojson',
  XLSX: 'xlsx',
  ODS: 'ods',
  OpenFileGDB: 'gdb',
  DXF: 'dxf',
  Parquet: 'parquet',
  Arrow: 'arrow',
  ESRIJSON: 'json',
  GeoRSS: 'xml',
  OSM: 'osm',
  DGN: 'dgn',
}

const HEAD_BYTES = 1 << 16
const GEOPACKAGE_IDS = new Set(['GPKG', 'GP10', 'GP11'])

/**
 * Detects the content of a file by its first bytes only, because names and content types are unreliable. Formats that
 * refer to other files or URLs (VRT, WFS, connection strings ...) are not supported, so they are refused here, before a
 * library opens them.
 *
 * @throws FORMAT_UNKNOWN
 */
export async function sniffFile(path: string): Promise<Content> {
  await using file = await open(path)
  const head = Buffer.alloc(HEAD_BYTES)
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0)
  return sniff(head.subarray(0, bytesRead))
}

/** @throws FORMAT_UNKNOWN */
function sniff(head: Buffer): Content {
  const binary = sniffBinary(head)
  if (binary) return binary
  if (head.includes(0)) throw formatUnknown({ reason: 'it is binary data of a kind that is not supported' })
  const text = head.toString('utf8').replace(/^\u{feff}/u, '')
  const body = text.trimStart()
  if (body === '') throw formatUnknown({ reason: 'it is empty' })
  if (body.startsWith('<')) return sniffXml(body)
  if (body.startsWith('{') || body.startsWith('[') || body.startsWith('\u001e')) return sniffJson(body)
  if (isDxf(body)) return 'DXF'
  if (/^!table\b/i.test(body) || /^Version\s+\d+/i.test(body)) return 'MapInfo File'
  checkTable(text, head.length < HEAD_BYTES)
  return 'CSV'
}

/** Tests for pairs of lines: a code and its value; comments have the code 999. */
function isDxf(body: string): boolean {
  const [code = '', value = ''] = body.split('\n', 2).map((line) => line.trim())
  return (code === '0' && value === 'SECTION') || code === '999'
}

function sniffBinary(head: Buffer): Content | null {
  const ascii = (start: number, end: number) => head.toString('latin1', start, end)
  if (ascii(0, 4) === 'PK\u0003\u0004') return 'zip'
  if (ascii(0, 4) === 'PK\u0005\u0006') throw formatUnknown({ reason: 'the zip archive is empty' })
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip'
  if (isTar(head)) return 'tar'
  if (ascii(0, 4) === 'PAR1') return 'Parquet'
  if (isArrow(head)) return 'Arrow'
  if (isDbf(head)) return 'DBF'
  if (isDgn(head)) return 'DGN'
  if (ascii(4, 15) === '\n\tOSMHeader')
    throw formatUnknown({ reason: 'it is an extract of OpenStreetMap (PBF): import it with osmImportArea' })
  if (ascii(0, 18) === 'AutoCAD Binary DXF') throw formatUnknown({ reason: 'it is a binary DXF: save it as text' })
  if (/^AC10[0-9]{2}\0/.test(ascii(0, 7))) throw formatUnknown({ reason: 'it is a drawing in DWG: save it as DXF' })
  if (ascii(0, 7) === 'fgb\u0003fgb') return 'FlatGeobuf'
  if (ascii(0, 16) === 'SQLite format 3\0') {
    // Some programs omit the id; then the schema names a table that only GeoPackages have.
    if (GEOPACKAGE_IDS.has(ascii(68, 72)) || head.includes('gpkg_contents')) return 'GPKG'
    if (head.includes('geometry_columns')) return 'SQLite'
    if (head.includes('tile_data'))
      throw formatUnknown({ reason: 'it is an archive of map tiles (MBTiles), not of features' })
    throw formatUnknown({
      reason: 'it is an SQLite database without geometries that are listed: export its tables as a GeoPackage',
    })
  }
  if (head.length >= 100 && head.readInt32BE(0) === 9994 && head.readInt32LE(28) === 1000) {
    throw formatUnknown({ reason: 'a Shapefile is several files: send all of them as one zip' })
  }
  return null
}

/** A drawing of MicroStation up to version 7: a first element for the file, in two dimensions or in three. */
function isDgn(head: Buffer): boolean {
  return (head[0] === 0x08 || head[0] === 0xc8) && head[1] === 0x09 && head[2] === 0xfe && head[3] === 0x02
}

/**
 * A table of dBASE III to V: its version, a date, and a head of 32 bytes for itself and for each column, which ends with a
 * carriage return; each column has a name and a letter for its type.
 */
function isDbf(head: Buffer): boolean {
  const [version = 0, , month = 0, day = 0] = head
  if (head.length < 65 || !DBF_VERSIONS.has(version) || month > 12 || day > 31) return false
  const [headBytes, rowBytes] = [head.readUInt16LE(8), head.readUInt16LE(10)]
  let at = 32
  let width = 1
  for (; at + 32 < Math.min(headBytes, head.length) && head[at] !== 0x0d; at += 32) {
    const name = head.subarray(at, at + 11)
    const letters = name.includes(0) ? name.subarray(0, name.indexOf(0)) : name
    const isNamed = letters.length > 0 && letters.every((byte) => byte >= 0x20)
    if (!isNamed || !/[A-Z@+0]/.test(String.fromCharCode(head[at + 11]!))) return false
    width += head[at + 16]!
  }
  return at > 32 && head[at] === 0x0d && width <= rowBytes
}

/** Version bytes of dBASE and FoxPro tables, with or without memo files. */
const DBF_VERSIONS: ReadonlySet<number> = new Set([0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x83, 0x8b, 0xf5])

/** A file of Arrow IPC, or a stream of it, which begins with the length of a schema (columnar format 1.5). */
function isArrow(head: Buffer): boolean {
  if (head.toString('latin1', 0, 6) === 'ARROW1') return true
  if (head.length < 16 || head.readUInt32LE(0) !== 0xffffffff) return false
  const length = head.readUInt32LE(4)
  return length > 0 && length % 8 === 0 && length < 1 << 24
}

/**
 * Detects the root element. A document type before it is refused, because it may define unbounded entities or refer to
 * other files.
 */
function sniffXml(body: string): Driver {
  const plain = withoutAsides(body)
  const root = /<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)([^>]*)/.exec(plain)
  if (/<!(DOCTYPE|ENTITY)/i.test(plain.slice(0, root?.index))) {
    throw formatUnknown({ reason: 'XML with a document type is not accepted' })
  }
  const [, , name = '', attributes = ''] = root ?? []
  if (name === 'kml') return 'KML'
  if (name === 'gpx') return 'GPX'
  if (name === 'osm') return 'OSM'
  if (name === 'rss' || name === 'feed' || name === 'RDF') {
    if (FEED_POSITIONS.test(body)) return 'GeoRSS'
    throw formatUnknown({ reason: 'it is a feed without positions' })
  }
  if (/^OGR|VRT|^GDAL/.test(name)) throw formatUnknown({ reason: `${name} only points to other data` })
  if (/opengis\.net\/gml/.test(attributes) || name === 'FeatureCollection') return 'GML'
  throw formatUnknown({ reason: `it is XML with the root element ${name.slice(0, 40) || '(none)'}` })
}

/** Vocabularies of positions in feeds: GeoRSS and W3C Basic Geo. */
const FEED_POSITIONS = /www\.georss\.org\/georss|www\.w3\.org\/2003\/01\/geo/

/** The text without comments and processing instructions; an unclosed one extends to the end. */
function withoutAsides(text: string): string {
  let rest = ''
  let start = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    const close = text.startsWith('<?', at) ? '?>' : text.startsWith('<!--', at) ? '-->' : null
    if (close === null) continue
    rest += text.slice(start, at)
    const end = text.indexOf(close, at + 2)
    if (end < 0) return rest
    start = end + close.length
    at = start - 1
  }
  return rest + text.slice(start)
}

const GEOJSON_TYPES =
  /"type"\s*:\s*"(FeatureCollection|Feature|Point|LineString|Polygon|MultiPoint|MultiLineString|MultiPolygon|GeometryCollection)"/

function sniffJson(body: string): Driver {
  if (/^\{\s*"type"\s*:\s*"Topology"/.test(body)) return 'TopoJSON'
  if (/"geometryType"\s*:\s*"esriGeometry/.test(body)) return 'ESRIJSON'
  if (!GEOJSON_TYPES.test(body)) throw formatUnknown({ reason: 'it is JSON but not GeoJSON' })
  if (body.startsWith('[')) throw formatUnknown({ reason: 'it is a JSON array, not a GeoJSON object' })
  if (body.startsWith('\u001e')) return 'GeoJSONSeq'
  // A first line that is a whole object, with another one after it, is a sequence.
  const lines = body.split('\n', 2)
  return lines.length === 2 && isObject(lines[0]!) && lines[1]!.trimStart().startsWith('{') ? 'GeoJSONSeq' : 'GeoJSON'
}

function isObject(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}
