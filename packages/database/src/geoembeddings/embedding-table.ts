import { toEwkbPolygon } from './ewkb.ts'
import { bulkLoad } from '../bulk-load/bulk-load.ts'
import type { Column, Row } from '../bulk-load/columns.ts'
import { qualified, quoteIdentifier, quoteLiteral, type Database, type Queryable, type Session } from '../database.ts'
import { STAGING_SCHEMA, fitName, relationExists, type StagedTable } from '../staging/staging.ts'
import { buildVectorIndex, needsVectorIndex, readVectorIndex, type VectorIndex } from './vector-index.ts'

/** The schema of embedding tables, their catalogue and the search functions. */
export const EMBEDDINGS_SCHEMA = 'geoembeddings'

/** A row has to fit a page of 8 KiB to keep its vector out of TOAST, which makes an exact scan four times slower. */
const MAX_PLAIN_BYTES = 7600

/** Kind of the rows, which decides the other columns: raster tiles, patches of tiles, H3 cells, imported places. */
export type EmbeddingKind = 'tile' | 'patch' | 'h3' | 'place'

export interface EmbeddingTableShape {
  readonly kind: EmbeddingKind
  readonly dims: number
  /** Distance of searches and of the index; cosine when absent. */
  readonly metric?: 'cosine' | 'l2'
  /** Patches are loaded in single precision; the finished table has half precision. */
  readonly wholeNumbers?: boolean
}

/** A vector and its place: rings `[lng, lat, …]` in EPSG:4326, counter-clockwise, closed or open, one per polygon. */
export interface EmbeddingRow {
  readonly id: number
  readonly polygons: readonly Float64Array[]
  readonly embedding: Float32Array
  /**
   * `tile_x, tile_y, px, py, valid_fraction` for tiles, the same and `patch` for patches, `h3_index` for cells, `place_id,
   * datetime` (null when unknown) and `valid_fraction` for places.
   */
  readonly attributes: Row
  /** Label of the row; absent for none. */
  readonly label?: string | null
}

interface Attribute extends Column {
  readonly isNullable?: boolean
}

const ATTRIBUTES: Readonly<Record<EmbeddingKind, readonly Attribute[]>> = {
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
  place: [
    { name: 'place_id', type: 'text' },
    { name: 'datetime', type: 'timestamptz', isNullable: true },
    { name: 'valid_fraction', type: 'float4' },
  ],
}

/** Columns of a table of a kind beside its ids, as SQL. */
export function columnsOf(kind: EmbeddingKind): string[] {
  return ['geom', 'embedding', ...ATTRIBUTES[kind].map(({ name }) => quoteIdentifier(name))]
}

/** Creates the staging table of an embedding table, without its indexes. */
export async function createEmbeddingTable(
  database: Queryable,
  staged: StagedTable,
  shape: EmbeddingTableShape,
): Promise<void> {
  const vector = loadType(shape)
  const attributes = ATTRIBUTES[shape.kind]
    .map(({ name, type, isNullable }) => `${quoteIdentifier(name)} ${type}${isNullable ? '' : ' not null'}`)
    .join(', ')
  const table = qualified(STAGING_SCHEMA, staged.staging)
  // MultiPolygon only where a footprint crosses the antimeridian; the column type then has to allow both.
  await database.query(
    `create table ${table} (
       id bigint not null, geom geometry(Geometry, 4326) not null, embedding ${vector}(${shape.dims}) not null,
       ${attributes}, label_name text
     )`,
  )
  if (fitsPage(vector, shape.dims)) await database.query(`alter table ${table} ${STORE_PLAIN}`)
}

const STORE_PLAIN = 'alter column embedding set storage plain'

function fitsPage(vector: 'halfvec' | 'vector', dims: number): boolean {
  return dims * (vector === 'vector' ? 4 : 2) <= MAX_PLAIN_BYTES
}

/** Type of the embeddings in the staging table. */
function loadType({ kind, wholeNumbers }: EmbeddingTableShape): 'halfvec' | 'vector' {
  return kind === 'patch' && !wholeNumbers ? 'halfvec' : 'vector'
}

/** Loads rows into the staging table. Returns their number. */
export function loadEmbeddings(
  database: Database,
  staged: StagedTable,
  shape: EmbeddingTableShape,
  batches: AsyncIterable<readonly EmbeddingRow[]>,
): Promise<number> {
  const columns: Column[] = [
    { name: 'id', type: 'int8' },
    { name: 'geom', type: 'geometry' },
    { name: 'embedding', type: loadType(shape) },
    ...ATTRIBUTES[shape.kind],
    { name: 'label_name', type: 'text' },
  ]
  return bulkLoad(database, { schema: STAGING_SCHEMA, table: staged.staging, columns }, toRows(batches))
}

/** Whether {@link finishEmbeddingTable} has run; it is atomic. */
export function isFinishedEmbeddingTable(database: Queryable, { staging }: StagedTable): Promise<boolean> {
  return relationExists(database, STAGING_SCHEMA, `${staging}_pkey`)
}

/**
 * Finishes a loaded staging table, unless an earlier run has: concrete geometry type, primary key, indexes of places
 * and labels, HNSW by {@link needsVectorIndex}, row-level security that follows the catalogue, statistics. Returns
 * a description of the HNSW index, or null without one.
 */
export async function finishEmbeddingTable(
  database: Database,
  staged: StagedTable,
  shape: EmbeddingTableShape,
  rows: number,
): Promise<VectorIndex | null> {
  const { dims, kind, metric = 'cosine', wholeNumbers } = shape
  const table = qualified(STAGING_SCHEMA, staged.staging)
  const named = (suffix: string) => quoteIdentifier(`${staged.staging}_${suffix}`)
  if (await isFinishedEmbeddingTable(database, staged)) return readVectorIndex(database, table)
  return await database.transaction(async (session) => {
    if (await arePolygons(session, table)) {
      await session.query(`alter table ${table} alter column geom type geometry(Polygon, 4326)`)
    } else {
      await session.query(
        `alter table ${table} alter column geom type geometry(MultiPolygon, 4326) using st_multi(geom)`,
      )
    }
    if (kind === 'patch' && wholeNumbers) {
      const plain = fitsPage('halfvec', dims) ? `, ${STORE_PLAIN}` : ''
      await session.query(`alter table ${table} alter column embedding type halfvec(${dims})${plain}`)
    }
    await session.query(`alter table ${table} add constraint ${named('pkey')} primary key (id)`)
    await session.query(`create index ${named('geom_idx')} on ${table} using gist (geom)`)
    // Rows get their labels later; a label of few rows is then found without a look at every vector.
    await session.query(`create index ${named('label_idx')} on ${table} (label_name) where label_name is not null`)
    const index = needsVectorIndex(rows, dims)
      ? await buildVectorIndex(
          session,
          { name: table, index: `${staged.staging}_hnsw_idx`, rows, dims, metric },
          database.capabilities.engine,
        )
      : null
    await session.query(`alter table ${table} enable row level security`)
    await session.query(
      `create policy visible on ${table} for select using (exists (
         select 1 from geoembeddings.embeddings_catalogue c where c.table_name = ${quoteLiteral(staged.table)}))`,
    )
    await session.query(`grant select on ${table} to anon, authenticated`)
    await session.query(`grant all on ${table} to service_role`)
    await session.query(`analyze ${table}`)
    return index
  })
}

/** Builds the HNSW index of a table by {@link needsVectorIndex}; returns its description, or null without one. */
export async function indexWhenLarge(
  session: Session,
  { capabilities: { engine } }: Database,
  tableName: string,
  { dims, metric = 'cosine', rows }: EmbeddingTableShape & { readonly rows: number },
): Promise<VectorIndex | null> {
  const name = qualified(EMBEDDINGS_SCHEMA, tableName)
  const there = await readVectorIndex(session, name)
  if (there !== null) return there
  if (!needsVectorIndex(rows, dims)) return null
  return buildVectorIndex(session, { name, index: fitName(tableName, '_hnsw_idx'), rows, dims, metric }, engine)
}

/** Gives the first table a geometry type for both; returns the expression that converts geometries of `t`. */
export async function finishGeometry(session: Session, table: string, from: string): Promise<string> {
  const { rows } = await session.query<{ type: string }>(
    `select format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = $1::regclass and attname = 'geom'`,
    [table],
  )
  if (/multipolygon/i.test(rows[0]?.type ?? '')) return 'st_multi(t.geom)'
  if (await arePolygons(session, from)) return 't.geom'
  await session.query(`alter table ${table} alter column geom type geometry(MultiPolygon, 4326) using st_multi(geom)`)
  return 'st_multi(t.geom)'
}

async function arePolygons(session: Session, table: string): Promise<boolean> {
  const { rows } = await session.query<{ type: string }>(`select distinct geometrytype(geom) as type from ${table}`)
  return rows.every(({ type }) => type === 'POLYGON')
}

async function* toRows(batches: AsyncIterable<readonly EmbeddingRow[]>): AsyncGenerator<Row[]> {
  for await (const batch of batches) {
    yield batch.map((row) => [row.id, toEwkbPolygon(row.polygons), row.embedding, ...row.attributes, row.label ?? null])
  }
}
