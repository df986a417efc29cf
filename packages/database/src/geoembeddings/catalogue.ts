import type { Database, Queryable } from '../database.ts'
import type { VectorIndex } from './vector-index.ts'

/** A row of `geoembeddings.embeddings_catalogue`, as a task writes it. */
export interface CatalogueEntry {
  readonly tableName: string
  readonly kind: 'geo' | 'srai'
  /** The user to whom the table belongs; null for a table of the service role. */
  readonly owner: string | null
  /** Whether anon and authenticated may read it; null for the default: public only without an owner. */
  readonly isPublic: boolean | null
  readonly modelName: string
  readonly modelSha256: string | null
  readonly modelLicence: string | null
  readonly dims: number
  readonly level: 'tile' | 'patch' | 'cell' | 'place'
  readonly normalized: boolean
  readonly metric: 'cosine' | 'l2'
  readonly rows: number
  readonly zeroVectors: number
  /** The approximate index; null where every row is compared. */
  readonly index: VectorIndex | null
  readonly source: string | null
  readonly sourceCrs: string | null
  readonly attribution: string | null
  readonly tileSize: number | null
  readonly stride: number | null
  readonly bands: readonly number[] | null
  readonly scale: unknown
  readonly featureNames: readonly string[] | null
  /** west, south, east, north in degrees. */
  readonly bbox: readonly [number, number, number, number] | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly jobId: string
}

/** Adds a table to the catalogue. The source is stored where only the owner and the service role may read it. */
export async function registerEmbeddings(session: Queryable, entry: CatalogueEntry): Promise<void> {
  const { source: details, ...metadata } = entry.metadata
  await session.query(
    `insert into geoembeddings.embeddings_catalogue
       (table_name, kind, model_name, model_sha256, model_licence, dims, level, normalized, metric, rows, zero_vectors,
        approximate_index, source_crs, attribution, tile_size, stride, bands, scale, feature_names, bbox, metadata, job_id, owner,
        index_kind, index_recall, is_public)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`,
    [
      entry.tableName,
      entry.kind,
      entry.modelName,
      entry.modelSha256,
      entry.modelLicence,
      entry.dims,
      entry.level,
      entry.normalized,
      entry.metric,
      entry.rows,
      entry.zeroVectors,
      entry.index !== null,
      entry.sourceCrs,
      entry.attribution,
      entry.tileSize,
      entry.stride,
      entry.bands,
      JSON.stringify(entry.scale ?? null),
      entry.featureNames,
      entry.bbox,
      JSON.stringify(metadata),
      entry.jobId,
      entry.owner,
      entry.index?.kind ?? null,
      entry.index?.recall ?? null,
      entry.isPublic,
    ],
  )
  await session.query('insert into geoembeddings.embedding_origins (table_name, source, details) values ($1, $2, $3)', [
    entry.tableName,
    entry.source,
    details === undefined ? null : JSON.stringify(details),
  ])
}

/** A table's provenance in the catalogue; null when it has no entry. */
export interface FoundEmbeddings {
  readonly tableName: string
  readonly kind: 'geo' | 'srai'
  readonly modelName: string
  readonly modelSha256: string | null
  readonly dims: number
  readonly level: 'tile' | 'patch' | 'cell' | 'place'
  readonly normalized: boolean
  readonly tileSize: number | null
  readonly scale: unknown
  readonly bands: readonly number[] | null
}

/** A table's provenance in the catalogue; null when there is no such table. */
export async function findEmbeddings(database: Queryable, tableName: string): Promise<FoundEmbeddings | null> {
  const { rows } = await database.query<FoundEmbeddings>(
    `select table_name as "tableName", kind, model_name as "modelName", model_sha256 as "modelSha256", dims, level, normalized,
       tile_size as "tileSize", scale, bands
     from geoembeddings.embeddings_catalogue where table_name = $1`,
    [tableName],
  )
  return rows[0] ?? null
}

/** A search of {@link searchEmbeddings}. */
export interface EmbeddingSearch {
  readonly vector: ArrayLike<number>
  readonly limit: number
  /** Only rows with this label; null for all. */
  readonly label: string | null
  /** Timeout of the statement. */
  readonly milliseconds: number
}

/** The rows of a table most like a vector, the most similar first. @throws the server's 57014 when its time is over */
export async function searchEmbeddings(
  database: Database,
  tableName: string,
  { vector, limit, label, milliseconds }: EmbeddingSearch,
): Promise<{ readonly id: string; readonly similarity: number }[]> {
  const search = (session: Queryable) =>
    session.query<{ id: string; similarity: number }>(
      `select id::text, similarity from geoembeddings.similarity_search(
       table_name => $1, query_embedding => $2::text::vector, similarity_threshold => -1, result_limit => $3, label_name => $4)`,
      [tableName, `[${Array.from(vector).join()}]`, limit, label],
    )
  return (await database.transaction(search, `begin read only; set local statement_timeout = ${milliseconds}`)).rows
}
