import { forbidden, unauthorized } from '@terrane/auth'
import type { Database } from '@terrane/database'
import type { GuardedFetch } from '@terrane/service'
import type { RasterFile } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { runAs } from '../rest/execute.ts'
import { existing, type StorageDeps } from '../storage/access.ts'
import { sourceGone, sourceUnknown } from './errors.ts'
import { localFile, remoteFile, storedFile } from './files.ts'

export interface RasterSources {
  readonly storage: StorageDeps
  readonly database: Database
  readonly fetch: GuardedFetch
  /** Folders where the sources of embeddings tables may lie. */
  readonly dataRoots: readonly string[]
}

/** A raster, and whether everybody may keep its pictures. */
export interface FoundRaster {
  readonly file: RasterFile
  readonly open: boolean
}

/**
 * The raster that `url` names: `storage://{bucket}/{path}` as storage gives it to the caller (anything of a public bucket,
 * the rest to the service role), or `embeddings://{table}`, the source of a table that the caller may read. A source that
 * lies in storage follows its bucket; one outside of it is shown to the service role alone.
 *
 * @throws RASTER_NOT_FOUND, SOURCE_NOT_FOUND, UNAUTHORIZED, FORBIDDEN
 */
export async function findRaster(
  sources: RasterSources,
  request: FastifyRequest,
  url: string,
  signal: AbortSignal,
): Promise<FoundRaster> {
  const stored = /^storage:\/\/([^/]+)\/(.+)$/.exec(url)
  if (stored) {
    const found = await storedRaster(sources, request, stored[1] as string, stored[2] as string)
    if (found) return found
    throw sourceUnknown({ url })
  }
  const table = /^embeddings:\/\/([a-z][a-z0-9_]{0,62})$/.exec(url)?.[1]
  if (table === undefined) throw sourceUnknown({ url })
  const source = await sourceOfTable(sources, request, table)
  if (source === null) throw sourceUnknown({ url })
  const found = await rasterOfSource(sources, request, source, signal)
  if (found) return found
  throw sourceGone({ table })
}

async function storedRaster(
  { storage }: RasterSources,
  request: FastifyRequest,
  bucketId: string,
  key: string,
): Promise<FoundRaster | null> {
  const bucket = await existing(storage, bucketId)
  if (!bucket?.public) {
    const principal = await storage.identify(request)
    if (!principal) throw unauthorized({ reason: 'missing' })
    if (!bucket || principal.role !== 'service_role') return null
  }
  const info = await storage.store.head(bucketId, key)
  return info && { file: storedFile(storage.store, info), open: bucket.public }
}

async function sourceOfTable(
  { storage, database }: RasterSources,
  request: FastifyRequest,
  table: string,
): Promise<string | null> {
  const principal = await storage.identify(request)
  if (!principal) throw unauthorized({ reason: 'missing' })
  const as = { principal, schema: 'geoembeddings', readOnly: true, rollback: false, timeoutMs: 10_000 }
  const isReadable = await runAs(database, as, async (session) => {
    const found = await session.query('select 1 from geoembeddings.embeddings_catalogue where table_name = $1', [table])
    return found.rowCount === 1
  })
  if (!isReadable) return null
  // The caller may see the picture where the source's bucket is public, but not its name.
  const { rows } = await database.query<{ source: string | null }>(
    'select source from geoembeddings.embedding_origins where table_name = $1',
    [table],
  )
  return rows[0]?.source ?? null
}

async function rasterOfSource(
  sources: RasterSources,
  request: FastifyRequest,
  source: string,
  signal: AbortSignal,
): Promise<FoundRaster | null> {
  const isUrl = /^https?:\/\//i.test(source)
  const [bucket = '', ...path] = source.split('/')
  if (!isUrl && path.length > 0) return storedRaster(sources, request, bucket, path.join('/'))
  const principal = await sources.storage.identify(request)
  if (principal?.role !== 'service_role')
    throw forbidden({ need: 'the service role key, for a source outside of storage' })
  const file = isUrl ? await remoteFile(sources.fetch, source, signal) : await localFile(sources.dataRoots, source)
  return file && { file, open: false }
}
