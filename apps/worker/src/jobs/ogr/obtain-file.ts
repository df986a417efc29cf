import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Ogr2ogrImport } from '@terrane/contracts'
import { downloadToFile } from '@terrane/service'
import { objectTooLarge } from '@terrane/storage'
import type { JobContext } from '../task.ts'
import { fileMissing, formatUnknown } from './errors.ts'
import { EXTENSIONS, sniffFile, type Content, type Driver } from './sniff.ts'
import { unzip, zipPaths, type ZipLimits } from './unzip.ts'

const MAX_ENTRIES = 1000
const MAX_RATIO = 100
/** An archive may hold this much more than a file may have. */
const UNPACKED_SHARE = 4
const GEODATABASE = 'data.gdb'

/** Endings of the files that make up one data set of several files. */
const PARTS_OF_MAPINFO = new Set(['tab', 'dat', 'map', 'id', 'ind', 'mif', 'mid'])
/** Endings beside a data set that say something about it but are none. */
const SIDE_FILES = new Set([
  'prj',
  'cpg',
  'dbf',
  'shx',
  'qix',
  'sbn',
  'sbx',
  'qpj',
  'xsd',
  'gfs',
  'txt',
  'md',
  'pdf',
  'html',
  'xml',
])

/** What lies beside the document of a KMZ are pictures and models, not other data. */
const DATA_BESIDE_KML = /\.(shp|tab|mif|gpkg|geojson|json|csv|gml|gpx|fgb|parquet)$/

/** A data set in a folder of its own. */
export interface Dataset {
  readonly folder: string
  /** Name within the folder; '.' for the folder itself. */
  readonly file: string
  readonly driver: Driver
}

/**
 * Brings the file of a request into the job's folder, from a URL through the guarded fetch or from the project's storage,
 * unpacks it if it is a zip archive, and finds out what it is by its content.
 *
 * @throws FORMAT_UNKNOWN, ZIP_REFUSED, and what the fetch and the storage throw
 */
export async function obtainDataset(input: Ogr2ogrImport, maxBytes: number, context: JobContext): Promise<Dataset> {
  const { workdir, signal } = context
  const source = join(workdir, 'source')
  await fetchSource(input, source, maxBytes, context)
  const folder = join(workdir, 'data')
  await mkdir(folder)
  const unpacked = maxBytes * UNPACKED_SHARE
  let content = await sniffFile(source)
  if (content === 'gzip') {
    await gunzipFile(source, unpacked, signal)
    content = await sniffFile(source)
    if (content === 'gzip') throw formatUnknown({ reason: 'it is gzip within gzip' })
  }
  const limits: ZipLimits = { maxEntries: MAX_ENTRIES, maxBytes: unpacked, maxRatio: MAX_RATIO }
  if (content === 'zip') {
    const paths = await zipPaths(source, limits)
    const packed = Object.entries(PACKED_BY).find(([path]) => paths.includes(path))
    if (!packed) return findDataset(await unpack(source, folder, paths, limits, signal))
    content = packed[1]
  }
  const file = `data.${extensionOf(content)}`
  await rename(source, join(folder, file))
  return { folder, file, driver: content }
}

/** Formats that are zip archives themselves, by a path within. */
const PACKED_BY: Readonly<Record<string, Driver>> = { 'xl/workbook.xml': 'XLSX', 'content.xml': 'ODS' }

/** Unpacks an archive; the files of a geodatabase go into a folder that is called as one. */
async function unpack(
  source: string,
  folder: string,
  paths: readonly string[],
  limits: ZipLimits,
  signal: AbortSignal,
): Promise<string> {
  const isGeodatabase = paths.some((path) => /\.gdbtable$/i.test(path))
  const target = isGeodatabase ? join(folder, GEODATABASE) : folder
  if (isGeodatabase) await mkdir(target)
  await unzip(source, target, limits, signal)
  return folder
}

/** Unpacks a file in its place, up to so many bytes. */
async function gunzipFile(path: string, maxBytes: number, signal: AbortSignal): Promise<void> {
  let bytes = 0
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(formatUnknown({ reason: `unpacked it has more than ${maxBytes} bytes` }))
      else done(null, chunk)
    },
  })
  try {
    const out = createWriteStream(`${path}.raw`, { flags: 'wx' })
    await pipeline(createReadStream(path), createGunzip(), counted, out, { signal })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    if (code.startsWith('Z_')) throw formatUnknown({ reason: 'its gzip data are damaged' }, { cause })
    throw cause
  }
  await rename(`${path}.raw`, path)
}

function extensionOf(driver: Exclude<Content, 'gzip' | 'zip'>): string {
  if (driver === 'MapInfo File') {
    throw formatUnknown({ reason: 'MapInfo data are several files: send all of them as one zip' })
  }
  return EXTENSIONS[driver]
}

async function fetchSource(input: Ogr2ogrImport, path: string, maxBytes: number, context: JobContext): Promise<void> {
  const { fetch, signal, project } = context
  const report = (done: number, total: number | null) =>
    context.progress({ phase: 'download', done, total, unit: 'bytes' })
  const url = input.fileUrl ?? input.url
  if (url !== undefined) {
    await downloadToFile(fetch, url, path, { maxBytes, signal, onBytes: report })
    return
  }
  if (!input.storagePath) throw fileMissing()
  const { bucket, path: key } = input.storagePath
  const { info, body } = await project.store.get(bucket, key, { signal })
  if (info.size > maxBytes) throw objectTooLarge({ limit: maxBytes })
  await pipeline(body, createWriteStream(path, { flags: 'wx' }), { signal })
}

/** The one data set among unpacked files. */
async function findDataset(folder: string): Promise<Dataset> {
  const names = (await readdir(folder)).toSorted()
  if (names.includes(GEODATABASE)) return { folder, file: GEODATABASE, driver: 'OpenFileGDB' }
  const kml = names.find((name) => name === 'doc.kml') ?? names.find((name) => name.endsWith('.kml'))
  if (kml && names.every((name) => name === kml || !DATA_BESIDE_KML.test(name))) {
    if ((await sniffFile(join(folder, kml))) !== 'KML') throw formatUnknown({ reason: `${kml} is no KML` })
    return { folder, file: kml, driver: 'KML' }
  }
  const endings = new Map(names.map((name) => [name, name.split('.').at(-1) ?? '']))
  const shapes = names.filter((name) => endings.get(name) === 'shp')
  if (shapes.length > 0) return findShapefile(folder, names, shapes)
  const mapInfo = names.filter((name) => ['tab', 'mif'].includes(endings.get(name)!))
  for (const name of mapInfo) await refuseSeamless(join(folder, name))
  if (
    mapInfo.length > 0 &&
    names.every((name) => PARTS_OF_MAPINFO.has(endings.get(name)!) || isSide(endings.get(name)!))
  ) {
    return { folder, file: mapInfo.length === 1 ? mapInfo[0]! : '.', driver: 'MapInfo File' }
  }
  const candidates = names.filter((name) => !isSide(endings.get(name)!))
  if (candidates.length !== 1) {
    const found = candidates.slice(0, 10).join(', ') || 'no data'
    throw formatUnknown({ reason: `the zip archive should hold one data set, and holds ${found}` })
  }
  const [name] = candidates
  const content = await sniffFile(join(folder, name!))
  if (content === 'zip' || content === 'gzip') throw formatUnknown({ reason: 'the zip archive holds another one' })
  const file = `data.${EXTENSIONS[content]}`
  if (file !== name) await rename(join(folder, name!), join(folder, file))
  return { folder, file, driver: content }
}

/** One Shapefile, or a folder of several, each a layer. */
function findShapefile(folder: string, names: readonly string[], shapes: readonly string[]): Dataset {
  for (const shape of shapes) {
    const base = shape.slice(0, -4)
    if (!names.includes(`${base}.shx`) && !names.includes(`${base}.dbf`)) {
      throw formatUnknown({ reason: `the zip archive lacks ${base}.shx and ${base}.dbf` })
    }
  }
  return { folder, file: shapes.length === 1 ? shapes[0]! : '.', driver: 'ESRI Shapefile' }
}

/** A seamless table only names other tables, wherever they lie. */
async function refuseSeamless(path: string): Promise<void> {
  const text = await readFile(path, 'latin1')
  if (/isseamless/i.test(text)) throw formatUnknown({ reason: 'a seamless MapInfo table only points to other data' })
}

function isSide(ending: string): boolean {
  return SIDE_FILES.has(ending)
}
