import type { Queryable } from '../database.ts'

/** Ids of one source of a table: `id >> 32` is its number. */
export const SOURCE_BITS = 32

/** A raster of a table, or one that could not be added. */
export interface EmbeddingSource {
  readonly name: string
  readonly datetime: string | null
  readonly profile: string | null
  readonly crs: string | null
  readonly dataType: string | null
  readonly status: 'done' | 'failed'
  readonly rows: number
  readonly skipped: number
  readonly zeroVectors: number
  /** West, south, east, north in degrees; null without rows. */
  readonly bbox: readonly [number, number, number, number] | null
  readonly version: string | null
  /** Fields of its STAC item, its files and their common grid; absent or null when unknown. */
  readonly properties?: Readonly<Record<string, unknown>> | null
  readonly error: unknown
}

/** A source of a table, with its number. */
export interface NumberedSource {
  readonly source: number
  readonly name: string
  readonly status: 'done' | 'failed'
  readonly version: string | null
  readonly dataType: string | null
}

/** The sources of a table, by number; empty for a table from before sources were recorded. */
export async function findSources(database: Queryable, tableName: string): Promise<NumberedSource[]> {
  const { rows } = await database.query<{
    source: number
    name: string
    status: 'done' | 'failed'
    version: string | null
    data_type: string | null
  }>(
    `select source, name, status, version, data_type from geoembeddings.embedding_sources
     where table_name = $1 order by source`,
    [tableName],
  )
  return rows.map(({ data_type: dataType, ...source }) => ({ ...source, dataType }))
}

/** Replaces the state of sources. */
export async function writeSources(
  session: Queryable,
  tableName: string,
  jobId: string,
  sources: readonly (EmbeddingSource & { readonly source: number })[],
): Promise<void> {
  await session.query(
    `insert into geoembeddings.embedding_sources as s (table_name, source, name, datetime, profile, crs, data_type, status,
       rows, skipped_nodata, zero_vectors, bbox, version, properties, error, job_id)
     select $1, (x->>'source')::int, x->>'name', (x->>'datetime')::timestamptz, x->>'profile', x->>'crs', x->>'dataType',
       x->>'status', (x->>'rows')::bigint, (x->>'skipped')::bigint, (x->>'zeroVectors')::bigint,
       case when jsonb_typeof(x->'bbox') = 'array' then array(select jsonb_array_elements_text(x->'bbox')::float8) end,
       x->>'version', case when jsonb_typeof(x->'properties') = 'object' then x->'properties' end,
       case when jsonb_typeof(x->'error') = 'object' then x->'error' end, $2
     from jsonb_array_elements($3::jsonb) x
     on conflict (table_name, source) do update set name = excluded.name, datetime = excluded.datetime,
       profile = excluded.profile, crs = excluded.crs, data_type = excluded.data_type, status = excluded.status,
       rows = excluded.rows, skipped_nodata = excluded.skipped_nodata, zero_vectors = excluded.zero_vectors,
       bbox = excluded.bbox, version = excluded.version, properties = excluded.properties, error = excluded.error, job_id = excluded.job_id,
       updated_at = clock_timestamp()`,
    [tableName, jobId, JSON.stringify(sources)],
  )
}
