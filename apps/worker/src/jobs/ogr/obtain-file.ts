import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ogr2ogrImport } from '@terrane/contracts'
import { downloadToFile } from '@terrane/service'
import { objectTooLarge } from '@terrane/storage'
import type { JobContext } from '../task.ts'
import { encodingUnknown, fileMissing, formatUnknown } from './errors.ts'
import { EXTENSIONS, sniffFile, type Driver } from './sniff.ts'
import { unzip, type ZipLimits } from './unzip.ts'

const MAX_ENTRIES = 1000
const MAX_RATIO = 100
/** An archive may hold this much more than a file may have. */
const UNPACKED_SHARE = 4

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

/** A data set in a folder of its own. */
export interface Dataset {
  readonly folder: string
  /** Name within the folder; '.' for the folder itself. */
  readonly file: string
  readonly driver: Driver
}

/** What looks like a number at the start of a CSV field but is more: a postal code or another key. */
const LEADING_ZERO = /(?:^|[,;\t|"\r\n ])[+-]?0\d/
const LONGEST_MATCH = 4

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
  const content = await sniffFile(source)
  if (content !== 'zip') {
    const file = `data.${extensionOf(content)}`
    await rename(source, join(folder, file))
    return readable({ folder, file, driver: content }, input.encoding)
  }
  const limits: ZipLimits = { maxEntries: MAX_ENTRIES, maxBytes: maxBytes * UNPACKED_SHARE, maxRatio: MAX_RATIO }
  await unzip(source, folder, limits, signal)
  return readable(await findDataset(folder), input.encoding)
}

/** A CSV in UTF-8, which is what the engine takes every CSV for. */
async function readable(dataset: Dataset, encoding: string | undefined): Promise<Dataset> {
  if (dataset.driver !== 'CSV' || encoding === undefined) return dataset
  let decoder: TextDecoderStream
  try {
    decoder = new TextDecoderStream(encoding)
  } catch (cause) {
    throw encodingUnknown({ encoding }, { cause })
  }
  const path = join(dataset.folder, dataset.file)
  const text = Readable.toWeb(createReadStream(path)).pipeThrough(decoder as never)
  await pipeline(Readable.fromWeb(text as never), createWriteStream(`${path}.utf8`, { flags: 'wx' }))
  await rename(`${path}.utf8`, path)
  return dataset
}

/** Whether a file of text may hold fields of digits that begin with a zero. */
export async function hasLeadingZeros(path: string): Promise<boolean> {
  let end = ''
  for await (const chunk of createReadStream(path, { encoding: 'latin1' })) {
    const text = end + (chunk as string)
    if (LEADING_ZERO.test(text)) return true
    end = text.slice(1 - LONGEST_MATCH)
  }
  return false
}

function extensionOf(driver: Driver): string {
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
  if (content === 'zip') throw formatUnknown({ reason: 'the zip archive holds another one' })
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
