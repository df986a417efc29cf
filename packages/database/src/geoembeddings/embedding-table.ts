import { toEwkbPolygon } from './ewkb.ts'
import { bulkLoad, type BulkLoadOptions } from '../bulk-load/bulk-load.ts'
import type { Column, Row } from '../bulk-load/columns.ts'
import { qualified, quoteIdentifier, quoteLiteral, type Database, type Queryable } from '../database.ts'
import { STAGING_SCHEMA, relationExists, type StagedTable } from '../staging.ts'

/** The schema of embedding tables, their catalogue and the search functions. */
export const EMBEDDINGS_SCHEMA = 'geoembeddings'

/** Above this many rows a table gets an HNSW index; below it the exact scan is fast enough (measured). */
const EXACT_SEARCH_ROWS = 50_000
/** Largest number of dimensions that an HNSW index over halfvec takes (pgvector 0.8). */
const MAX_INDEXED_DIMS = 4000
/** What a row of the graph takes beside its vector (m 16; measured). */
const GRAPH_BYTES = 830
/** A row has to fit a page of 8 KiB to keep its vector out of TOAST, which makes an exact scan four times slower. */
const MAX_PLAIN_BYTES = 7600

/** Which columns stand beside the vector: tiles of a raster, patches of its tiles, or H3 cells. */
export type EmbeddingKind = 'tile' | 'patch' | 'h3'

export interface EmbeddingTableShape {
  readonly kind: EmbeddingKind
  readonly dims: number
  /** What searches measure, and the index with them; cosine when absent. */
  readonly metric?: 'cosine' | 'l2'
}

/** A vector and its place. `ring` is closed or open, `[lng, lat, lng, lat, …]` in EPSG:4326, counter-clockwise. */
export interface EmbeddingRow {
  readonly id: number
  readonly polygons: readonly Float64Array[]
  readonly embedding: Float32Array
  /** `tile_x, tile_y, px, py, valid_fraction` for tiles, the same and `patch` for patches, `h3_index` for cells. */
  readonly attributes: Row
}

const ATTRIBUTES: Readonly<Record<EmbeddingKind, readonly Column[]>> = {
  tile: [
    { name: 'tile_x', type: 'int4' },
    { name: 'tile_y', type: 'int4' },
    { name: 'px', type: 'int4' },
    { name: 'py', type: 'int4' },
    { name: 'valid_fraction', type: 'float4' },
  ],
  patch: [
    { name: 'tile_x', type: 'int4' },
    { name: 'tile_y', type: 'int4' },
    { name: 'px', type: 'int4' },
    { name: 'py', type: 'int4' },
    { name: 'valid_fraction', type: 'float4' },
    { name: 'patch', type: 'int4' },
  ],
  h3: [{ name: 'h3_index', type: 'text' }],
}

/** Creates the staging table of an embedding table, without its indexes. */
export async function createEmbeddingTable(
  database: Queryable,
  staged: StagedTable,
  shape: EmbeddingTableShape,
): Promise<void> {
  const vector = shape.kind === 'patch' ? 'halfvec' : 'vector'
  const bytes = shape.dims * (vector === 'vector' ? 4 : 2)
  const attributes = ATTRIBUTES[shape.kind].map((c) => `${quoteIdentifier(c.name)} ${c.type} not null`).join(', ')
  const table = qualified(STAGING_SCHEMA, staged.staging)
  // MultiPolygon only where a footprint crosses the antimeridian; the column type then has to allow both.
  await database.query(
    `create table ${table} (
       id bigint not null, geom geometry(Geometry, 4326) not null, embedding ${vector}(${shape.dims}) not null,
       ${attributes}, label_name text
     )`,
  )
  if (bytes <= MAX_PLAIN_BYTES) await database.query(`alter table ${table} alter column embedding set storage plain`)
}

/** Loads rows into the staging table. Returns their number. */
export function loadEmbeddings(
  database: Database,
  staged: StagedTable,
  shape: EmbeddingTableShape,
  batches: AsyncIterable<readonly EmbeddingRow[]>,
  options: BulkLoadOptions = {},
): Promise<number> {
  const columns: Column[] = [
    { name: 'id', type: 'int8' },
    { name: 'geom', type: 'geometry' },
    { name: 'embedding', type: shape.kind === 'patch' ? 'halfvec' : 'vector' },
    ...ATTRIBUTES[shape.kind],
  ]
  return bulkLoad(database, { schema: STAGING_SCHEMA, table: staged.staging, columns }, toRows(batches), options)
}

/** Takes the rows from an id on out of a staging table, if it is there. Returns how many are left. */
export async function trimEmbeddings(database: Database, staged: StagedTable, firstId: number): Promise<number> {
  if (!(await relationExists(database, STAGING_SCHEMA, staged.staging))) return 0
  const table = qualified(STAGING_SCHEMA, staged.staging)
  await database.query(`delete from ${table} where id >= $1`, [firstId])
  const { rows } = await database.query<{ n: number }>(`select count(*) as n from ${table}`)
  return rows[0]?.n ?? 0
}

/**
 * Finishes a loaded staging table: concrete geometry type, primary key, spatial index, HNSW above
 * {@link EXACT_SEARCH_ROWS}, row-level security that follows the catalogue, statistics. Returns whether there is an HNSW
 * index.
 */
export async function finishEmbeddingTable(
  database: Database,
  staged: StagedTable,
  shape: EmbeddingTableShape,
  rows: number,
): Promise<boolean> {
  const table = qualified(STAGING_SCHEMA, staged.staging)
  const { rows: types } = await database.query<{ type: string }>(
    `select distinct geometrytype(geom) as type from ${table}`,
  )
  if (types.every(({ type }) => type === 'POLYGON')) {
    await database.query(`alter table ${table} alter column geom type geometry(Polygon, 4326)`)
  } else {
    await database.query(
      `alter table ${table} alter column geom type geometry(MultiPolygon, 4326) using st_multi(geom)`,
    )
  }
  await database.query(
    `alter table ${table} add constraint ${quoteIdentifier(`${staged.staging}_pkey`)} primary key (id)`,
  )
  await database.query(`create index ${quoteIdentifier(`${staged.staging}_geom_idx`)} on ${table} using gist (geom)`)
  const indexed = rows > EXACT_SEARCH_ROWS && shape.dims <= MAX_INDEXED_DIMS
  if (indexed) {
    await buildWithMemory(
      database,
      rows * (2 * shape.dims + GRAPH_BYTES),
      `create index ${quoteIdentifier(`${staged.staging}_hnsw_idx`)} on ${table}
       using hnsw ((embedding::halfvec(${shape.dims})) ${shape.metric === 'l2' ? 'halfvec_l2_ops' : 'halfvec_cosine_ops'})`,
    )
  }
  await database.query(`alter table ${table} enable row level security`)
  await database.query(
    `create policy visible on ${table} for select using (exists (
       select 1 from geoembeddings.embeddings_catalogue c where c.table_name = ${quoteLiteral(staged.table)}))`,
  )
  await database.query(`grant select on ${table} to anon, authenticated`)
  await database.query(`grant all on ${table} to service_role`)
  await database.query(`analyze ${table}`)
  return indexed
}

/**
 * Runs a statement with the memory that a graph of so many bytes wants, up to a quarter of what the server counts on for its
 * cache: a build that leaves memory takes four times as long.
 */
async function buildWithMemory(database: Database, bytes: number, statement: string): Promise<void> {
  if (database.capabilities.engine === 'pglite') return void (await database.query(statement))
  await database.transaction(async (session) => {
    await session.query(
      `select set_config('maintenance_work_mem', greatest(
         pg_size_bytes(current_setting('maintenance_work_mem')),
         least($1::bigint, pg_size_bytes(current_setting('effective_cache_size')) / 4)) / 1024 || 'kB', true)`,
      [Math.ceil(bytes)],
    )
    await session.query(statement)
  })
}

async function* toRows(batches: AsyncIterable<readonly EmbeddingRow[]>): AsyncGenerator<Row[]> {
  for await (const batch of batches) {
    yield batch.map((row) => [row.id, toEwkbPolygon(row.polygons), row.embedding, ...row.attributes])
  }
}
