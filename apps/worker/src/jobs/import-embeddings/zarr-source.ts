import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ImportEmbeddings, JobWarning } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import { parseForeignJson } from '@terrane/service'
import { objectNotFound, objectTooLarge, type ArtifactStore } from '@terrane/storage'
import {
  MAX_DOCUMENT_BYTES,
  coordinateObjects,
  fieldsOf,
  findZarr,
  zarrUnusable,
  type Fields,
  type ZarrRaster,
} from '@terrane/tiling/zarr'
import { requireBucket } from '../stored-object.ts'
import type { JobContext } from '../task.ts'

/** Objects that are fetched at the same time. */
const AT_ONCE = 8
/** One of these stands in the root of a store. */
const ROOTS = ['zarr.json', '.zgroup', '.zarray']

/** Address of a store: a folder whose name ends in `.zarr`, and a path within it. */
export interface ZarrAddress {
  /** Path of the folder: a key, or the path of a URL. */
  readonly root: string
  readonly path: string
}

/** A Zarr store whose objects are copied into a folder as they are needed. */
export interface ZarrSource {
  readonly folder: string
  readonly zarr: ZarrRaster
  /**
   * Copies objects; missing ones were never written.
   *
   * @returns a warning about objects that the server neither gave nor called missing
   * @throws OBJECT_TOO_LARGE when all have too many bytes
   */
  fetch(keys: readonly string[]): Promise<readonly JobWarning[]>
}

/** The store of a request; null when it names a file. */
export function zarrAddress({ url, storagePath }: Pick<ImportEmbeddings, 'url' | 'storagePath'>): ZarrAddress | null {
  const parts = (storagePath?.path ?? URL.parse(url ?? '')?.pathname ?? '').split('/')
  const at = parts.findIndex((part) => part.toLowerCase().endsWith('.zarr'))
  const path = parts.slice(at + 1).filter((part) => part !== '')
  return at === -1 ? null : { root: parts.slice(0, at + 1).join('/'), path: path.join('/') }
}

/** @throws BUCKET_NOT_FOUND, OBJECT_NOT_FOUND when the root of the store has no metadata */
export async function checkStoredZarr(store: ArtifactStore, bucket: string, { root }: ZarrAddress): Promise<void> {
  await requireBucket(store, bucket)
  const found = await Promise.all(ROOTS.map((name) => store.head(bucket, `${root}/${name}`)))
  if (found.every((info) => info === null)) throw objectNotFound({ bucket, key: `${root}/${ROOTS[0]}` })
}

/**
 * Finds the vectors of a store, and copies its metadata and coordinates.
 *
 * @param maxBytes of all objects together
 * @throws ZARR_UNUSABLE, OBJECT_TOO_LARGE, what the guarded fetch and the storage throw
 */
export async function openZarrSource(
  body: ImportEmbeddings,
  address: ZarrAddress,
  context: JobContext,
  { folder, maxBytes }: { readonly folder: string; readonly maxBytes: number },
): Promise<ZarrSource> {
  const forbidden = new Set<string>()
  const open = openerOf(body, address, { context, forbidden })
  const copy = copierOf(open, folder, { context, maxBytes })
  let isClosed = true
  const json = async (key: string): Promise<Fields | null> => {
    const path = join(folder, key)
    if (!existsSync(path) && !(await copy(key, MAX_DOCUMENT_BYTES))) return null
    isClosed = false
    return fieldsOf(parsed(key, await readFile(path, 'utf8')))
  }
  const place = { path: address.path, array: body.columns?.vector ?? null }
  const zarr = await findZarr({ json }, place).catch((error: unknown) => {
    if (forbidden.size === 0 || !isClosed) throw error
    throw zarrUnusable({ why: 'its server answers HTTP status 403 for all of its metadata' })
  })
  const coordinates = coordinateObjects(zarr)
  await copyAll(coordinates, copy, context)
  const closed = coordinates.find((key) => forbidden.has(key))
  if (closed !== undefined) throw zarrUnusable({ why: `its server answers HTTP status 403 for ${closed}` })
  const fetch = async (keys: readonly string[]) => {
    await copyAll(keys, copy, context)
    if (keys.some((key) => forbidden.has(key))) await checkStillOpen(open, zarr)
    return forbiddenWarning(keys, forbidden)
  }
  return { folder, zarr, fetch }
}

/** A signed URL may end during an import, and all that follows is forbidden then. @throws ZARR_UNUSABLE */
async function checkStillOpen(open: Open, { vectors: { array } }: ZarrRaster): Promise<void> {
  const name = array.version === 3 ? 'zarr.json' : '.zarray'
  const body = await open(array.path === '' ? name : `${array.path}/${name}`, MAX_DOCUMENT_BYTES)
  if (body === null) throw zarrUnusable({ why: 'its server gives no more of it since the import began' })
  for await (const _ of body);
}

/** @throws ZARR_UNUSABLE when every object was forbidden */
function forbiddenWarning(keys: readonly string[], forbidden: ReadonlySet<string>): JobWarning[] {
  const closed = keys.filter((key) => forbidden.has(key))
  const count = closed.length
  if (count === 0) return []
  if (count === keys.length)
    throw zarrUnusable({ why: `its server answers HTTP status 403 for all of its ${count} chunks` })
  const message =
    'The server answers 403 for these objects and for objects that do not exist alike, so they were read as never written. Some may exist and be closed to the worker.'
  return [{ code: 'OBJECTS_FORBIDDEN', message, count, examples: closed.slice(0, 10) }]
}

function parsed(key: string, text: string): unknown {
  try {
    return parseForeignJson(text)
  } catch (cause) {
    throw zarrUnusable({ why: `${key} is not JSON, or too large` }, { cause })
  }
}

/** Copies an object into the folder; false when there is none. */
type Copy = (key: string, limit: number) => Promise<boolean>
/** Opens an object; null when there is none. */
type Open = (key: string, limit: number) => Promise<AsyncIterable<Uint8Array> | null>

function openerOf(
  { url, storagePath }: ImportEmbeddings,
  { root }: ZarrAddress,
  { context, forbidden }: { readonly context: JobContext; readonly forbidden: Set<string> },
): Open {
  const { fetch, project, signal } = context
  if (url === undefined) {
    const { bucket } = storagePath!
    return async (key) => {
      const found = await project.store.get(bucket, `${root}/${key}`, { signal }).catch(unlessMissing)
      return found && found.body
    }
  }
  const get = (key: string, maxBytes: number) => {
    const address = new URL(url)
    address.pathname = `${root}/${key}`
    // A redirect would multiply over all objects, and lead to other hosts.
    return fetch(address.href, { signal, maxBytes, redirect: 'manual', accept: [403, 404] })
  }
  // S3 answers 403 for what does not exist to a caller that may not list its bucket.
  let hidesMissing: Promise<boolean> | null = null
  const isHidden = async () => {
    const answer = await get(randomUUID(), MAX_DOCUMENT_BYTES)
    answer.cancel()
    return answer.status === 403
  }
  return async (key, maxBytes) => {
    const answer = await get(key, maxBytes)
    const { status } = answer
    if (status === 200) return answer.body
    answer.cancel()
    if (status === 404) return null
    if (status === 403 && (await (hidesMissing ??= isHidden()))) {
      forbidden.add(key)
      return null
    }
    const { host } = new URL(url)
    throw zarrUnusable({ why: `${host} answers with HTTP status ${status} for ${key}; redirects are not followed` })
  }
}

function unlessMissing(error: unknown): null {
  if (error instanceof TerraneError && error.code === 'OBJECT_NOT_FOUND') return null
  throw error
}

function copierOf(
  open: Open,
  folder: string,
  { context, maxBytes }: { readonly context: JobContext; readonly maxBytes: number },
): Copy {
  let total = 0
  return async (key, limit) => {
    const body = await open(key, Math.min(limit, maxBytes - total))
    if (body === null) return false
    const path = join(folder, key)
    await mkdir(dirname(path), { recursive: true })
    let bytes = 0
    const counted = async function* () {
      for await (const part of body) {
        bytes += part.byteLength
        total += part.byteLength
        if (bytes > limit) throw objectTooLarge({ limit })
        if (total > maxBytes) throw objectTooLarge({ limit: maxBytes })
        yield part
      }
    }
    await pipeline(counted, createWriteStream(path, { flags: 'wx' }), { signal: context.signal })
    return true
  }
}

async function copyAll(keys: readonly string[], copy: Copy, context: JobContext): Promise<void> {
  const queue = keys.values()
  let done = 0
  let hasFailed = false
  const work = async () => {
    for (const key of queue) {
      if (hasFailed) return
      await copy(key, Infinity)
      done++
      context.progress({ phase: 'download', message: 'downloading chunks', done, total: keys.length, unit: 'objects' })
    }
  }
  const results = await Promise.allSettled(
    Array.from({ length: AT_ONCE }, () =>
      work().catch((error: unknown) => {
        hasFailed = true
        throw error
      }),
    ),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
