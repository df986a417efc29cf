import { open, realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { readBytes, type GuardedFetch } from '@terrane/service'
import type { ObjectInfo, ObjectStore } from '@terrane/storage'
import type { ByteSpan, RasterFile } from '@terrane/tiling/raster'

/** Byte ranges with a smaller gap are read as one, because a request costs more than the additional bytes. */
const NEAR = 16 * 1024
/** Concurrent requests for one picture. */
const AT_ONCE = 6

/** An object of the project's storage. */
export function storedFile(store: ObjectStore, { bucket, key, etag, size }: ObjectInfo): RasterFile {
  const readRange = async (offset: number, length: number, signal: AbortSignal): Promise<Uint8Array> => {
    const { body } = await store.get(bucket, key, { range: { start: offset, end: offset + length - 1 }, signal })
    return readBytes(body, length)
  }
  return { key: `storage ${bucket}/${key} ${etag}`, bytes: size, read: joined(size, readRange) }
}

/** A file under one of the data folders, symbolic links resolved; null when there is none. */
export async function localFile(roots: readonly string[], name: string): Promise<RasterFile | null> {
  for (const root of roots) {
    try {
      const base = await realpath(root)
      const path = await realpath(resolve(base, name))
      const facts = await stat(path)
      if (!path.startsWith(base + sep) || !facts.isFile()) continue
      const readRange = async (offset: number, length: number): Promise<Uint8Array> => {
        await using file = await open(path)
        const bytes = Buffer.alloc(length)
        const { bytesRead } = await file.read(bytes, 0, length, offset)
        return bytes.subarray(0, bytesRead)
      }
      return {
        key: `file ${path} ${facts.mtimeMs} ${facts.size}`,
        bytes: facts.size,
        read: joined(facts.size, readRange),
      }
    } catch {
      // The file is not under this root.
    }
  }
  return null
}

/** A file at a URL whose server supports range requests; null otherwise. */
export async function remoteFile(fetch: GuardedFetch, url: string, signal: AbortSignal): Promise<RasterFile | null> {
  const ask = async (offset: number, length: number, stop: AbortSignal) => {
    const headers = { range: `bytes=${offset}-${offset + length - 1}` }
    return fetch(url, { headers, signal: stop, maxBytes: length, timeoutMs: 30_000 })
  }
  const first = await ask(0, 1, signal)
  first.cancel()
  const size = Number(/\/(\d+)$/.exec(first.headers['content-range'] ?? '')?.[1])
  if (first.status !== 206 || !Number.isSafeInteger(size)) return null
  const version = first.headers['etag'] ?? first.headers['last-modified'] ?? ''
  const readRange = async (offset: number, length: number, stop: AbortSignal) =>
    readBytes((await ask(offset, length, stop)).body, length)
  return { key: `url ${url} ${version} ${size}`, bytes: size, read: joined(size, readRange) }
}

type ReadRange = (offset: number, length: number, signal: AbortSignal) => Promise<Uint8Array>

/** Joins ranges to fewer and larger ones, and reads several at a time. */
function joined(size: number, readRange: ReadRange): RasterFile['read'] {
  return async (spans, signal) => {
    const ranges = joinSpans(spans.map(({ offset, length }) => ({ offset, length: Math.min(length, size - offset) })))
    const parts = new Map<ByteSpan, Uint8Array>()
    let next = 0
    const lane = async (): Promise<void> => {
      for (let range = ranges[next++]; range; range = ranges[next++]) {
        parts.set(range, await readRange(range.offset, range.length, signal))
      }
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, ranges.length) }, lane))
    return spans.map(({ offset, length }) => {
      const range = ranges.find((r) => offset >= r.offset && offset < r.offset + r.length) as ByteSpan
      const at = offset - range.offset
      return (parts.get(range) as Uint8Array).subarray(at, at + length)
    })
  }
}

/** Ranges in the order of the file; close neighbours are joined. */
function joinSpans(spans: readonly ByteSpan[]): ByteSpan[] {
  const ranges: { offset: number; length: number }[] = []
  for (const { offset, length } of spans.toSorted((a, b) => a.offset - b.offset)) {
    const last = ranges.at(-1)
    if (last && offset <= last.offset + last.length + NEAR) {
      last.length = Math.max(last.length, offset + length - last.offset)
    } else ranges.push({ offset, length })
  }
  return ranges
}
