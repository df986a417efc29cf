import { forbidden, unauthorized } from '@terrane/auth'
import type { Database } from '@terrane/database'
import type { GuardedFetch } from '@terrane/service'
import type { RasterFile } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { runAs } from '../rest/execute.ts'
import { existing, type StorageDeps } from '../storage/access.ts'
import { sceneNotDrawn, sourceGone, sourceNumberNeeded, sourceUnknown } from './errors.ts'
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
 * the rest to the service role), or `embeddings://{table}`, the source of a table that the caller may read; of a table of
 * many `embeddings://{table}/{number}`, by the number of `embedding_sources`. A source that
 * lies in storage follows its bucket; one outside of it is shown to the service role alone.
 *
 * @throws RASTER_NOT_FOUND, SOURCE_NOT_FOUND, SOURCE_NUMBER_NEEDED, UNAUTHORIZED, FORBIDDEN
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
  const [, table, number] = /^embeddings:\/\/([a-z][a-z0-9_]{0,62})(?:\/(\d{1,7}))?$/.exec(url) ?? []
  if (table === undefined) throw sourceUnknown({ url })
  const source = await sourceOfTable(sources, request, table, number === undefined ? null : Number(number))
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

/** Sources that an error lists. */
const LISTED_SOURCES = 10

interface TableSource {
  /** Of the table, where it has one. */
  readonly source: string | null
  readonly number: number | null
  readonly name: string | null
  readonly day: string | null
  /** It was made of bands in files of their own. */
  readonly is_scene: boolean
}

async function sourceOfTable(
  { storage, database }: RasterSources,
  request: FastifyRequest,
  table: string,
  number: number | null,
): Promise<string | null> {
  const principal = await storage.identify(request)
  if (!principal) throw unauthorized({ reason: 'missing' })
  const as = { principal, schema: 'geoembeddings', readOnly: true, rollback: false, timeoutMs: 10_000 }
  const mayRead = await runAs(database, as, async (session) => {
    const found = await session.query('select from geoembeddings.embeddings_catalogue where table_name = $1', [table])
    return found.rowCount === 1
  })
  if (!mayRead) return null
  // Names of sources are not the caller's to read, their pictures may be.
  const { rows } = await database.query<TableSource>(
    `select o.source, s.source as number, s.name, (s.datetime at time zone 'UTC')::date::text as day,
       coalesce(jsonb_typeof(s.properties->'files') = 'array', false) as is_scene
     from geoembeddings.embeddings_catalogue c
     left join geoembeddings.embedding_origins o on o.table_name = c.table_name
     left join geoembeddings.embedding_sources s on s.table_name = c.table_name and s.status = 'done'
       and ($2::integer is null or s.source = $2)
     where c.table_name = $1 order by s.source limit $3`,
    [table, number, LISTED_SOURCES],
  )
  if (number === null && rows.length > 1)
    throw sourceNumberNeeded({ table, sources: rows.map(({ number: n, day }) => ({ number: n!, day })) })
  const [found] = rows
  if (found?.is_scene === true) throw sceneNotDrawn({ table })
  return found?.name ?? (number === null ? (found?.source ?? null) : null)
}

async function rasterOfSource(
  sources: RasterSources,
  request: FastifyRequest,
  source: string,
  signal: AbortSignal,
): Promise<FoundRaster | null> {
  const isUrl = /^https?:\/\//i.test(source)
  const [bucket = '', ...path] = source.split('/')
  const mayBeStored = !isUrl && path.length > 0
  const stored = mayBeStored ? await storedRaster(sources, request, bucket, path.join('/')) : null
  if (stored) return stored
  const principal = await sources.storage.identify(request)
  // A path below a data folder looks like one in a bucket.
  if (mayBeStored && principal?.role !== 'service_role') return null
  if (principal?.role !== 'service_role')
    throw forbidden({ need: 'the service role key, for a source outside of storage' })
  const file = isUrl ? await remoteFile(sources.fetch, source, signal) : await localFile(sources.dataRoots, source)
  return file && { file, open: false }
}
