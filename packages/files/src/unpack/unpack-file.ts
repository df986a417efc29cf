import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { formatUnknown } from '../errors.ts'
import { findDatasets, type FoundDatasets } from './find-datasets.ts'
import { CountedGrowth } from './growth.ts'
import { driverOf, EXTENSIONS, sniffFile, type Driver, type FileContent } from './sniff.ts'
import { foldersOf, planTargets } from './unpacked-names.ts'
import { tarPaths, untar } from './untar.ts'
import { openZip } from './unzip.ts'
import { asUtf8 } from './utf16.ts'

/** A file geodatabase has half a dozen files for each of its tables. */
const MAX_ENTRIES = 10_000
/** Maximum size of an archive's contents, as a multiple of the maximum size of a file. */
const UNPACKED_SHARE = 4

/**
 * Unpacks a file into a folder if it is an archive, and detects its content. The source file is moved or changed.
 *
 * @param maxBytes maximum bytes of a file; an archive may hold four times as much
 * @throws FORMAT_UNKNOWN, ZIP_REFUSED
 */
export async function unpackFile(
  source: string,
  folder: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<FoundDatasets> {
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
 * Unpacks a file in place, up to `maxBytes`.
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
