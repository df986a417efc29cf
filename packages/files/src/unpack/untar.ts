import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extract, type Header } from 'tar-stream'
import { zipRefused } from '../errors.ts'
import type { ArchiveLimits } from './unzip.ts'
import { checkPath, planTargets } from './unpacked-names.ts'

/** Size of a header, and of the blocks of an archive. */
const BLOCK = 512
const MARK_AT = 257

/** Whether a file begins as a tar archive does (POSIX ustar; GNU and pax archives begin the same way). */
export function isTar(head: Buffer): boolean {
  return head.length >= BLOCK && head.toString('latin1', MARK_AT, MARK_AT + 5) === 'ustar'
}

/**
 * The paths of the files in a tar archive, each of them checked.
 *
 * @throws ZIP_REFUSED
 */
export async function tarPaths(path: string, limits: ArchiveLimits, signal: AbortSignal): Promise<string[]> {
  const paths: string[] = []
  let bytes = 0
  await eachEntry(path, signal, async ({ name, type, size }) => {
    checkPath(name)
    if (type === 'directory') return null
    if (type !== 'file' && type !== 'contiguous-file') throw zipRefused({ reason: `${name} is a ${type}` })
    bytes += size
    paths.push(name)
    if (paths.length > limits.maxEntries)
      throw zipRefused({ reason: `it holds more than ${limits.maxEntries} entries` })
    if (bytes > limits.maxBytes) throw zipRefused({ reason: `it holds more than ${limits.maxBytes} bytes` })
    return null
  })
  return paths
}

/** Unpacks the files of a tar archive whose paths have been checked. */
export async function untar(path: string, folder: string, paths: readonly string[], signal: AbortSignal) {
  const targets = planTargets(paths)
  await eachEntry(path, signal, async ({ name, type }) => {
    const target = type === 'directory' ? undefined : targets.get(name)
    return target === undefined ? null : join(folder, target)
  })
}

/** Reads an archive; writes each entry for which `onEntry` returns a path. */
async function eachEntry(
  path: string,
  signal: AbortSignal,
  onEntry: (header: Header) => Promise<string | null>,
): Promise<void> {
  const archive = extract()
  const feeding = pipeline(createReadStream(path), archive, { signal })
  feeding.catch(() => {})
  try {
    for await (const entry of archive) {
      const target = await onEntry(entry.header)
      if (target === null) entry.resume()
      else await pipeline(entry, createWriteStream(target, { flags: 'wx' }), { signal })
    }
    await feeding
  } catch (cause) {
    archive.destroy()
    const { message } = cause as Error
    if (!/tar|Unexpected end/i.test(message)) throw cause
    throw zipRefused({ reason: `it is damaged (${message.slice(0, 120)})` }, { cause })
  }
}
