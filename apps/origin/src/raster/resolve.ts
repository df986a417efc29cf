import type { FastifyRequest } from 'fastify'
import { sourceUnknown } from './errors.ts'
import { foundImage, isItem, partOf } from './found-image.ts'
import { FileOpener } from './open-file.ts'
import { MAX_ITEM_BYTES, assetsOf, itemPart, readItem } from './scene.ts'
import type { FoundRaster, RasterSources, SourceRequest } from './sources.ts'
import { imageOfTable, sourcesOfTable } from './table-image.ts'

const TABLE = /^embeddings:\/\/([a-z][a-z0-9_]{0,62})(?:\/(\d{1,7}))?$/
const STORED = /^storage:\/\/([^/]+)\/(.+)$/

/**
 * Names of what a source consists of: assets of a STAC item, or addresses of the sources of a table in the area.
 *
 * @param most maximum number of names
 * @throws RASTER_NOT_FOUND, ITEM_UNREADABLE
 */
export async function findAssets(
  sources: RasterSources,
  request: FastifyRequest,
  asked: SourceRequest,
  most: number,
): Promise<readonly string[]> {
  const { url, signal } = asked
  const opener = new FileOpener(sources, request, signal)
  const [, table, number] = TABLE.exec(url) ?? []
  if (table !== undefined) return sourcesOfTable({ sources, request, opener, table, number, asked }, most)
  const [, bucket, path] = STORED.exec(url) ?? []
  if (bucket !== undefined && path !== undefined) {
    const found = await opener.open({ kind: 'storage', bucket, path })
    if (found) return assetsOf(readItem(await opener.text(found, MAX_ITEM_BYTES))).slice(0, most)
  } else if (/^https?:\/\//i.test(url))
    return assetsOf(readItem(await opener.textAt(url, MAX_ITEM_BYTES))).slice(0, most)
  throw sourceUnknown({ url })
}

/**
 * The raster that `url` names. `storage://{bucket}/{path}`: an object with the access rules of storage (any of a public
 * bucket, others for the service role). `https://…`: for the service role. `embeddings://{table}`: the sources of a
 * table that the caller may read, as one mosaic; with `/{number}` a single one, by its number in `embedding_sources`. A
 * file is a GeoTIFF, a VRT (by its extension) or a STAC item (`.json`, `.geojson`, `…/items/{id}`, or with `assets`). A
 * source in storage has the access rules of its bucket; other sources are for the service role only.
 *
 * @throws RASTER_NOT_FOUND, SOURCE_NOT_FOUND, UNAUTHORIZED, FORBIDDEN, and what scenes are refused for
 */
export async function findRaster(
  sources: RasterSources,
  request: FastifyRequest,
  asked: SourceRequest,
): Promise<FoundRaster> {
  const { url, choice, signal } = asked
  const opener = new FileOpener(sources, request, signal)
  const [, table, number] = TABLE.exec(url) ?? []
  if (table !== undefined) return imageOfTable({ sources, request, opener, table, number, asked })
  const [, bucket, path] = STORED.exec(url) ?? []
  if (bucket !== undefined && path !== undefined) {
    const found = await opener.open({ kind: 'storage', bucket, path })
    if (found) return foundImage([await partOf(found, choice, opener)])
  } else if (/^https?:\/\//i.test(url)) {
    const source = { kind: 'url', url } as const
    if (isItem(url, choice)) {
      return foundImage([await itemPart(await opener.textAt(url, MAX_ITEM_BYTES), source, choice, opener)])
    }
    const found = await opener.open(source)
    if (found) return foundImage([await partOf(found, choice, opener)])
  }
  throw sourceUnknown({ url })
}
