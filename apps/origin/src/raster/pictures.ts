import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import type { LngLatBox, PictureFormat, RasterDescription, RenderPool, RenderRequest } from '@terrane/tiling/raster'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { tileOutside } from './errors.ts'
import type { FindRaster } from './request.ts'
import type { FoundRaster } from './sources.ts'

export type PictureRequest = Extract<RenderRequest, { kind: 'picture' }>

/** A drawn picture; `bytes` is null when it is empty. */
interface Drawn {
  readonly bytes: Uint8Array | null
}

const CONTENT_TYPES: Readonly<Record<PictureFormat, string>> = {
  png: 'image/png',
  webp: 'image/webp',
  jpeg: 'image/jpeg',
  npy: 'application/x-binary',
  tif: 'image/tiff; application=geotiff',
}
/** Size of the picture cache; repeated requests mostly come within minutes. */
const PICTURE_BYTES = 48 * 1024 * 1024
/** Larger pictures are not cached. */
const KEPT_BYTES = 4 * 1024 * 1024
/** Bytes of a cache entry besides its picture. */
const ENTRY_BYTES = 200
/** Version of the renderer, which is part of the cache key: increment it when pictures change. */
const RENDERER = 6

/** Draws pictures, and caches recent ones. */
export class Pictures {
  readonly #pool: RenderPool
  readonly #find: FindRaster
  readonly #kept = new LRUCache<string, Drawn>({
    maxSize: PICTURE_BYTES,
    sizeCalculation: ({ bytes }) => ENTRY_BYTES + (bytes?.byteLength ?? 0),
  })

  constructor(pool: RenderPool, find: FindRaster) {
    this.#pool = pool
    this.#find = find
  }

  /** Facts of the raster of a request. */
  async describe(request: FastifyRequest, signal: AbortSignal, box: LngLatBox | null): Promise<RasterDescription> {
    return this.#pool.describe((await this.#find(request, signal, box)).image, signal)
  }

  /** Sends a picture with a strong ETag of its inputs, so that a client that has it gets 304 before it is drawn. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    signal: AbortSignal,
    { picture, box }: { readonly picture: PictureRequest; readonly box: LngLatBox | null },
  ): Promise<FastifyReply> {
    const raster = await this.#find(request, signal, box)
    // The name identifies the content of the picture, not the form of the request.
    const name = serialize([RENDERER, raster.image.key, picture])
    const etag = `"${createHash('sha256').update(name).digest('base64url').slice(0, 27)}"`
    reply.headers({ etag, 'cache-control': cacheControl(raster), vary: 'Accept, apikey, Authorization' })
    if (request.headers['if-none-match']?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
      return reply.code(304).send()
    }
    const known = this.#kept.get(etag)
    const { bytes } = known ?? { bytes: await this.#pool.render(raster.image, picture, signal) }
    if (known === undefined && (bytes?.byteLength ?? 0) <= KEPT_BYTES) this.#kept.set(etag, { bytes })
    if (bytes === null) throw tileOutside()
    return reply.type(CONTENT_TYPES[picture.format]).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }
}

function cacheControl({ open }: FoundRaster): string {
  return open ? 'public, no-cache' : 'private, no-cache'
}
