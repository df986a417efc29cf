import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { copyFile, link, mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { TerraneError } from '@terrane/core'
import { readBytes, type GuardedFetch } from '@terrane/service'
import { checksumDiffers } from './errors.ts'

export interface CacheOptions {
  readonly fetch: GuardedFetch
  readonly folder: string
  readonly signal: AbortSignal
  /** Largest file. */
  readonly maxBytes: number
  /** Maximum bytes of all files; the least recently used ones are removed first. */
  readonly maxCacheBytes: number
  /** Age up to which a copy is used without asking the server. */
  readonly maxAgeMs: number
  /** The server also has `{url}.md5`. */
  readonly md5?: boolean
  readonly onBytes?: (done: number, total: number | null) => void
}

export interface CachedFile {
  readonly path: string
  readonly bytes: number
  /** Header `Last-Modified` of the download; null when the server sent none. */
  readonly lastModified: string | null
  /** False when the server could not be reached and an older copy is used. */
  readonly fresh: boolean
}

interface Meta {
  readonly url: string
  readonly lastModified: string | null
  readonly checkedAt: number
}

/** Running downloads of this process: a second job for the same file waits for the first. */
const underWay = new Map<string, Promise<CachedFile>>()

/**
 * A file of a server, kept in a folder and renewed when the server has a newer one. The copy is linked to `target`, so
 * that it stays complete when the cache replaces or removes its own file.
 *
 * @throws CHECKSUM_DIFFERS, and what the guarded fetch throws when there is no copy yet
 */
export async function cachedDownload(url: string, target: string, options: CacheOptions): Promise<CachedFile> {
  const key = join(options.folder, nameOf(url))
  for (;;) {
    options.signal.throwIfAborted()
    const other = underWay.get(key)
    if (!other) break
    // Whether the other download fails or succeeds, this job checks the cache again; its own signal ends the wait.
    await Promise.race([other.catch(() => {}), aborted(options.signal)])
  }
  const work = renewAndLink(url, key, target, options).finally(() => underWay.delete(key))
  underWay.set(key, work)
  return work
}

async function renewAndLink(url: string, key: string, target: string, options: CacheOptions): Promise<CachedFile> {
  const file = await renew(url, key, options)
  await linkOrCopy(file.path, target)
  await evict(options.folder, basename(key), options.maxCacheBytes)
  return { ...file, path: target }
}

async function renew(url: string, key: string, options: CacheOptions): Promise<CachedFile> {
  await mkdir(options.folder, { recursive: true })
  const meta = await readMeta(key, url)
  if (meta && Date.now() - meta.checkedAt < options.maxAgeMs) return used(key, meta, true)
  try {
    return await used(key, await download(url, key, meta, options), true)
  } catch (error) {
    // An older copy is better than none while the server is down.
    if (meta && error instanceof TerraneError && error.retryable) return used(key, meta, false)
    throw error
  }
}

/** Downloads the file, unless the server reports that the copy is current. */
async function download(url: string, key: string, meta: Meta | null, options: CacheOptions): Promise<Meta> {
  const known = meta?.lastModified ?? null
  const response = await options.fetch(url, {
    maxBytes: options.maxBytes,
    timeoutMs: 6 * 3_600_000,
    signal: options.signal,
    ...(known !== null && { headers: { 'if-modified-since': known }, accept: [304] }),
  })
  const partial = `${key}.${randomBytes(4).toString('hex')}.partial`
  try {
    const lastModified = response.status === 304 ? known : (response.headers['last-modified'] ?? null)
    if (response.status !== 304) {
      const md5 = createHash('md5')
      const total = Number(response.headers['content-length'] ?? Number.NaN)
      let done = 0
      const observed = async function* () {
        for await (const chunk of response.body) {
          md5.update(chunk)
          done += chunk.byteLength
          options.onBytes?.(done, Number.isFinite(total) ? total : null)
          yield chunk
        }
      }
      await pipeline(observed, createWriteStream(partial, { flags: 'wx' }), { signal: options.signal })
      if (options.md5 && md5.digest('hex') !== (await statedMd5(url, options))) {
        throw checksumDiffers({ name: basename(new URL(url).pathname) })
      }
      await rename(partial, key)
    }
    const renewed: Meta = { url, lastModified, checkedAt: Date.now() }
    await writeFile(`${key}.json`, JSON.stringify(renewed))
    return renewed
  } finally {
    response.cancel()
    await rm(partial, { force: true })
  }
}

async function statedMd5(url: string, options: CacheOptions): Promise<string | undefined> {
  const response = await options.fetch(`${url}.md5`, { maxBytes: 4096, signal: options.signal })
  const text = Buffer.from(await readBytes(response.body, 4096)).toString('latin1')
  return /^[0-9a-f]{32}/i.exec(text)?.[0].toLowerCase()
}

async function used(path: string, meta: Meta, fresh: boolean): Promise<CachedFile> {
  const now = new Date()
  await utimes(path, now, now)
  return { path, bytes: (await stat(path)).size, lastModified: meta.lastModified, fresh }
}

async function readMeta(key: string, url: string): Promise<Meta | null> {
  try {
    const meta: Meta = JSON.parse(await readFile(`${key}.json`, 'utf8'))
    await stat(key)
    return meta.url === url ? meta : null
  } catch {
    return null
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to)
  }
}

/** Removes the least recently used files except `keep`, until the others fit. */
async function evict(folder: string, keep: string, maxBytes: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))
  const files = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name)).catch(() => ({ size: 0, mtimeMs: 0 }))
      return { name, size, mtimeMs }
    }),
  )
  let total = files.reduce((sum, { size }) => sum + size, 0)
  for (const { name, size } of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= maxBytes) return
    if (name === keep) continue
    await rm(join(folder, name), { force: true })
    await rm(join(folder, `${name}.json`), { force: true })
    total -= size
  }
}

/** A file name with a hash of the URL and a readable part. */
function nameOf(url: string): string {
  const readable = basename(new URL(url).pathname)
    .replaceAll(/[^\w.-]/g, '_')
    .slice(-80)
  return `${createHash('sha256').update(url).digest('hex').slice(0, 16)}-${readable}`
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
