import { promisify } from 'node:util'
import { brotliDecompress, gunzip, zstdDecompress } from 'node:zlib'
import { defineError } from '@terrane/core'
import { rateSubject, readBytes, type Http } from '@terrane/service'
import { objectNotFound, type ObjectInfo } from '@terrane/storage'
import { LRUCache } from 'lru-cache'
import { Compression, PMTiles, SharedPromiseCache, TileType, type Source } from 'pmtiles'
import { publicLimitsOf, type Principal } from '@terrane/auth'
import type { FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { compressAnswers } from '../compression.ts'
import { publishableKeyIn } from '../publishable-keys.ts'
import { existing, existingObject, readableBucket, type StorageDeps } from '../storage/access.ts'
import { VECTOR_TILE, cachedBytes, sendGiven, tagged, type Given } from './given.ts'
import { placeOf } from './tile-request.ts'

const archiveUnreadable = defineError(
  'ARCHIVE_UNREADABLE',
  'invalid',
  (f: { bucket: string; key: string }) => `${f.bucket}/${f.key} cannot be read as a PMTiles archive.`,
  () => ({ hint: 'Upload an archive of version 3, as `terrane tiles` and tippecanoe write it.' }),
)

const badPlace = defineError(
  'BAD_TILE',
  'malformed',
  (f: { detail: string }) => `The tile cannot be read: ${f.detail}.`,
)

/** Maximum bytes of a tile, before and after decompression. */
const PART_BYTES = 32 * 1024 * 1024
/** Maximum bytes of an unpacked directory or of the metadata; their parsed entries take many times as much. */
const ABOUT_BYTES = 1024 * 1024
const MOST_DIRECTORIES = 200
const MOST_ARCHIVES = 100
const TILE_BYTES = 32 * 1024 * 1024

const CONTENT_TYPES: Readonly<Partial<Record<TileType, string>>> = {
  [TileType.Mvt]: VECTOR_TILE,
  [TileType.Png]: 'image/png',
  [TileType.Jpeg]: 'image/jpeg',
  [TileType.Webp]: 'image/webp',
  [TileType.Avif]: 'image/avif',
}
const ENDING = /\.(?:mvt|pbf|png|jpe?g|webp|avif)$/

const UNPACK = {
  [Compression.Gzip]: promisify(gunzip),
  [Compression.Brotli]: promisify(brotliDecompress),
  [Compression.Zstd]: promisify(zstdDecompress),
} as const

/** The members of an archive's TileJSON that are replaced. */
interface TileJson {
  tiles: readonly string[]
}

export type ArchiveDeps = StorageDeps & {
  /** The caller by a publishable key in the URL; null for none. */
  readonly identifyPublishable: (request: FastifyRequest) => Promise<Principal | null>
}

/**
 * `/vector/v1/archives/{bucket}/{key}`: the TileJSON of a PMTiles archive in the storage, and `…/{z}/{x}/{y}` its tiles, for map
 * libraries that do not read archives themselves. Archives of public buckets need no key, as their objects do; a publishable key
 * opens archives that it names as `{bucket}/{key}`.
 */
export async function archiveRoutes(app: Http, deps: ArchiveDeps): Promise<void> {
  await app.register(async (scope) => {
    compressAnswers(scope, { hasTags: true })
    addRoutes(scope, deps)
  })
}

function addRoutes(app: Http, deps: ArchiveDeps): void {
  const unpackAbout = unpackTo(ABOUT_BYTES)
  const directories = new SharedPromiseCache(MOST_DIRECTORIES, false, unpackAbout)
  const archives = new LRUCache<string, PMTiles>({ max: MOST_ARCHIVES })
  const tiles = new LRUCache<string, Given>({ maxSize: TILE_BYTES, sizeCalculation: cachedBytes })
  const find = async (request: FastifyRequest) => {
    const { bucket: id, key } = request.params as { bucket: string; key: string }
    deps.limits.count(rateSubject(request, false))
    const isOpen = (await existing(deps, id))?.public === true
    if (!isOpen) await requireReadable(deps, request, id, key)
    const info = await existingObject(deps, id, key)
    const name = `${id}/${key} ${info.etag}`
    const archive = archives.get(name) ?? new PMTiles(sourceOf(deps, info, name), directories, unpackTo(PART_BYTES))
    archives.set(name, archive)
    const headers = { 'cache-control': `${isOpen ? 'public' : 'private'}, no-cache`, vary: 'apikey, Authorization' }
    // The library caches failures, so its entries are removed.
    const unreadable = () => {
      archives.delete(name)
      for (const kept of directories.cache.keys())
        if (kept === name || kept.startsWith(`${name}|`)) directories.cache.delete(kept)
      return archiveUnreadable({ bucket: id, key })
    }
    return { archive, name, headers, unreadable }
  }
  const config = { quiet: true }
  app.get('/vector/v1/archives/:bucket/:key', { config }, async (request, reply) => {
    const { archive, headers, unreadable } = await find(request)
    const { protocol, host, url } = request
    const base = `${protocol}://${host}${url.split('?', 1)[0] ?? ''}`
    const reading = new PMTiles(archive.source, directories, unpackAbout).getTileJson(base) as Promise<TileJson>
    const about = await reading.catch(() => {
      throw unreadable()
    })
    const pageKey = publishableKeyIn(request)
    if (pageKey !== null) about.tiles = about.tiles.map((tile) => `${tile}?apikey=${encodeURIComponent(pageKey)}`)
    return reply.headers(headers).type('application/json; charset=utf-8').send(JSON.stringify(about))
  })
  app.get(
    '/vector/v1/archives/:bucket/:key/:z/:x/:file',
    { config },
    abortOnDisconnect(async (request, reply, signal) => {
      const { z, x, file } = request.params as { z: string; x: string; file: string }
      const place = placeOf({ z, x, y: file.replace(ENDING, '') }, (detail) => badPlace({ detail }))
      const { archive, name, headers, unreadable } = await find(request)
      try {
        const { tileType } = await archive.getHeader()
        const tileName = `${name} ${place.z}/${place.x}/${place.y}`
        const given =
          tiles.get(tileName) ??
          tagged(new Uint8Array((await archive.getZxy(place.z, place.x, place.y, signal))?.data ?? []))
        tiles.set(tileName, given)
        return await sendGiven(request, reply.headers(headers), given, CONTENT_TYPES[tileType])
      } catch (error) {
        if (signal.aborted) throw error
        request.log.warn({ err: error }, 'archive unreadable')
        throw unreadable()
      }
    }),
  )
}

/**
 * A publishable key in the URL gives access to the archives that it names; other keys have the rights of the storage.
 *
 * @throws UNAUTHORIZED, FORBIDDEN
 */
async function requireReadable(deps: ArchiveDeps, request: FastifyRequest, bucket: string, key: string): Promise<void> {
  const page = await deps.identifyPublishable(request)
  if (page === null) await readableBucket(deps, request, bucket)
  else if (!publicLimitsOf(page)?.tables.includes(`${bucket}/${key}`)) throw objectNotFound({ bucket, key })
}

/** Byte ranges of an object; a replaced object counts as another source. */
function sourceOf({ store }: StorageDeps, { bucket, key, size }: ObjectInfo, name: string): Source {
  return {
    getKey: () => name,
    getBytes: async (offset, length, signal) => {
      const end = Math.min(offset + length, size)
      if (end <= offset || end - offset > PART_BYTES) throw new RangeError('a part is outside the archive')
      const { body } = await store.get(bucket, key, {
        range: { start: offset, end: end - 1 },
        ...(signal && { signal }),
      })
      return { data: bufferOf(await readBytes(body, PART_BYTES)) }
    },
  }
}

function unpackTo(maxOutputLength: number) {
  return async (bytes: ArrayBuffer, compression: Compression): Promise<ArrayBuffer> => {
    if (compression === Compression.None) return bytes
    if (!(compression in UNPACK)) throw new Error('the compression of the archive is not known')
    const unpacked = UNPACK[compression as keyof typeof UNPACK]
    return bufferOf(await unpacked(new Uint8Array(bytes), { maxOutputLength }))
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}
