import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Ogr2ogrImport } from '@terrane/contracts'
import { downloadToFile } from '@terrane/service'
import { objectTooLarge } from '@terrane/storage'
import type { JobContext } from '../../task.ts'
import { fileMissing, formatUnknown } from '../errors.ts'
import { findDatasets, type FoundDatasets } from './find-datasets.ts'
import { CountedGrowth } from './growth.ts'
import { driverOf, EXTENSIONS, sniffFile, type Driver, type FileContent } from './sniff.ts'
import { foldersOf, planTargets } from './unpacked-names.ts'
import { tarPaths, untar } from './untar.ts'
import { openZip } from './unzip.ts'
import { asUtf8 } from './utf16.ts'

/** A file geodatabase has half a dozen files for each of its tables. */
const MAX_ENTRIES = 10_000
/** An archive may hold this much more than a file may have. */
const UNPACKED_SHARE = 4

/** What is used of a job to bring a file. */
export type Obtaining = Pick<JobContext, 'workdir' | 'signal' | 'fetch' | 'progress'> & {
  readonly project: Pick<JobContext['project'], 'store'>
}

/**
 * Brings the file of a request into the job's folder, from a URL through the guarded fetch or from the project's storage,
 * unpacks it if it is an archive, and finds out what it is by its content.
 *
 * @throws FORMAT_UNKNOWN, ZIP_REFUSED, and what the fetch and the storage throw
 */
export async function obtainDatasets(
  input: Ogr2ogrImport,
  maxBytes: number,
  context: Obtaining,
): Promise<FoundDatasets> {
  const { workdir, signal } = context
  const source = join(workdir, 'source')
  await fetchSource(input, source, maxBytes, context)
  const folder = join(workdir, 'data')
  await mkdir(folder)
  const limits = { maxEntries: MAX_ENTRIES, maxBytes: maxBytes * UNPACKED_SHARE }
  await asUtf8(source, signal)
  let content = await sniffFile(source)
  if (content === 'gzip') {
    await gunzipFile(source, limits.maxBytes, signal)
    await asUtf8(source, signal)
    content = await sniffFile(source)
    if (content === 'gzip') throw formatUnknown({ reason: 'it is gzip within gzip' })
  }
  if (content === 'tar') {
    const paths = await tarPaths(source, limits, signal)
    await makeFolders(folder, paths)
    await untar(source, folder, paths, signal)
    return findDatasets(folder, signal)
  }
  if (content === 'zip') {
    using archive = await openZip(source, limits)
    const { paths } = archive
    const packed = Object.entries(PACKED_BY).find(([path]) => paths.includes(path))
    if (!packed) {
      await makeFolders(folder, paths)
      await archive.unpack(folder, signal)
      return findDatasets(folder, signal)
    }
    content = packed[1]
  }
  const file = `data.${extensionOf(content)}`
  await rename(source, join(folder, file))
  return { datasets: [{ folder, file, driver: driverOf(content), stem: '' }], skipped: [] }
}

async function makeFolders(folder: string, paths: readonly string[]): Promise<void> {
  for (const name of foldersOf(planTargets(paths))) await mkdir(join(folder, name))
}

/** Formats that are zip archives themselves, by a path within. */
const PACKED_BY: Readonly<Record<string, Driver>> = { 'xl/workbook.xml': 'XLSX', 'content.xml': 'ODS' }

/**
 * Unpacks a file in its place, up to so many bytes.
 *
 * @throws FORMAT_UNKNOWN, ZIP_REFUSED
 */
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
    const { size } = await stat(path)
    await pipeline(createReadStream(path), createGunzip(), counted, new CountedGrowth(size), out, { signal })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    if (code.startsWith('Z_')) throw formatUnknown({ reason: 'its gzip data are damaged' }, { cause })
    throw cause
  }
  await rename(`${path}.raw`, path)
}

function extensionOf(content: FileContent): string {
  if (content === 'MapInfo File') {
    throw formatUnknown({ reason: 'MapInfo data are several files: send all of them as one zip' })
  }
  return EXTENSIONS[content]
}

async function fetchSource(input: Ogr2ogrImport, path: string, maxBytes: number, context: Obtaining): Promise<void> {
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
