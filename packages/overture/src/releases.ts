import { parquetMetadata, parquetRead } from 'hyparquet'
import type { Aoi, Bbox } from '@terrane/core'
import { compressors } from '@terrane/files/parquet'
import { catalogueUnreadable, releaseNotFound } from './errors.ts'
import { bytesOf, type RangeFetch } from './range-fetch.ts'

const MAX_CATALOGUE_BYTES = 16 << 20
const MAX_INDEX_BYTES = 64 << 20
const RELEASE = /^\d{4}-\d{2}-\d{2}(\.\d+)?(-[a-z0-9.]+)?$/

/** A file of a release. */
export interface ReleaseFile {
  readonly url: string
  readonly bbox: Bbox
}

/** A release and its files by type. */
export interface Release {
  readonly release: string
  readonly files: ReadonlyMap<string, readonly ReleaseFile[]>
}

/**
 * Finds a release in a STAC catalogue: the requested one, or the catalogue's latest. Its files come from the release's
 * index, `collections.parquet`, one row per file.
 *
 * @throws OVERTURE_RELEASE_NOT_FOUND, OVERTURE_CATALOGUE_UNREADABLE
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { findRelease, type RangeFetch } from '@terrane/overture'
 *
 * async function* body() {
 *   yield Buffer.from('{ "latest": "2026-08-19.0", "links": [] }')
 * }
 * const fetch: RangeFetch = async () => ({ status: 200, headers: {}, body: body(), cancel() {} })
 * const found = findRelease(fetch, 'https://example.org/catalog.json', '2020-01-01.0')
 * await assert.rejects(found, { code: 'OVERTURE_RELEASE_NOT_FOUND' })
 * ```
 */
export async function findRelease(
  fetch: RangeFetch,
  catalogueUrl: string,
  wanted: string | undefined,
  signal?: AbortSignal,
): Promise<Release> {
  const { latest, releases } = await readCatalogue(fetch, catalogueUrl, signal)
  const release = wanted ?? latest
  if (!releases.includes(release)) throw releaseNotFound({ release, known: releases })
  const url = new URL(`${release}/collections.parquet`, catalogueUrl).href
  return { release, files: await readIndex(fetch, url, signal) }
}

/** The files that may hold features of an area. */
export function filesTouching(files: readonly ReleaseFile[], aoi: Aoi): ReleaseFile[] {
  return files.filter(({ bbox }) => aoi.relateBox(...bbox) !== 'outside')
}

async function readCatalogue(
  fetch: RangeFetch,
  url: string,
  signal?: AbortSignal,
): Promise<{ latest: string; releases: string[] }> {
  const fail = (reason: string, cause?: unknown) => catalogueUnreadable({ url, reason }, { cause })
  const bytes = await download(fetch, url, MAX_CATALOGUE_BYTES, signal)
  let catalogue: { latest?: unknown; links?: unknown }
  try {
    catalogue = JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw fail('it is not JSON', cause)
  }
  const links = Array.isArray(catalogue.links) ? (catalogue.links as { rel?: unknown; href?: unknown }[]) : []
  const releases = links
    .filter(({ rel }) => rel === 'child')
    .map(({ href }) => (String(href).endsWith('/catalog.json') ? String(href).split('/').at(-2)! : ''))
    .filter((name) => RELEASE.test(name))
  const { latest } = catalogue
  if (typeof latest !== 'string' || !RELEASE.test(latest)) throw fail('it does not name a latest release')
  return { latest, releases: releases.includes(latest) ? releases : [latest, ...releases] }
}

async function readIndex(
  fetch: RangeFetch,
  url: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, readonly ReleaseFile[]>> {
  const bytes = await download(fetch, url, MAX_INDEX_BYTES, signal)
  const files = new Map<string, ReleaseFile[]>()
  try {
    for (const row of await readRows(Uint8Array.from(bytes))) {
      const href = row.assets?.aws?.href
      if (row.type !== 'Feature' || typeof row.collection !== 'string' || typeof href !== 'string' || !row.bbox)
        continue
      const { xmin, ymin, xmax, ymax } = row.bbox
      const file: ReleaseFile = { url: new URL(href, url).href, bbox: [xmin, ymin, xmax, ymax] }
      const list = files.get(row.collection)
      if (list) list.push(file)
      else files.set(row.collection, [file])
    }
  } catch (cause) {
    throw catalogueUnreadable({ url, reason: 'it is not the index of a release' }, { cause })
  }
  if (files.size === 0) throw catalogueUnreadable({ url, reason: 'it lists no files' })
  return files
}

interface IndexRow {
  readonly type?: unknown
  readonly collection?: unknown
  readonly bbox?: { readonly xmin: number; readonly ymin: number; readonly xmax: number; readonly ymax: number }
  readonly assets?: { readonly aws?: { readonly href?: unknown } }
}

async function readRows(bytes: Uint8Array<ArrayBuffer>): Promise<IndexRow[]> {
  const metadata = parquetMetadata(bytes.buffer, { geoparquet: false })
  let rows: IndexRow[] = []
  await parquetRead({
    file: { byteLength: bytes.length, slice: (start, end) => bytes.buffer.slice(start, end) },
    metadata,
    columns: ['type', 'collection', 'bbox', 'assets'],
    rowFormat: 'object',
    geoparquet: false,
    compressors,
    onComplete: (all) => {
      rows = all as IndexRow[]
    },
  })
  return rows
}

async function download(fetch: RangeFetch, url: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, { maxBytes, ...(signal ? { signal } : {}) })
  return Buffer.from((await bytesOf(response)).buffer)
}
