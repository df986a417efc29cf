import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { buildVectorIndex, readVectorIndex, type VectorIndex } from './vector-index.ts'

const DIMS = 256
const COUNT = 1000
const COLUMNS = 25
let db: TestDatabase

const random = seededRandom(3)
const gaussian = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
const centers = Array.from({ length: 24 }, () => Float32Array.from({ length: DIMS }, gaussian))
/** Clusters around directions that share one far larger component, as pooled activations of one sign do. */
const clustered = Array.from({ length: COUNT }, (_, id) =>
  centers[id % centers.length]!.map((x) => 12 + x + 0.7 * gaussian()),
)
/** One direction with differences in length and the first two dimensions only: the signs of the rest are noise. */
const shapeless = Array.from({ length: COUNT }, () => {
  const [x, y] = [gaussian(), gaussian()]
  return Float32Array.from({ length: DIMS }, (_, d) => (d === 0 ? x : d === 1 ? y : 1e-4 * gaussian()))
})

function ring(id: number): Float64Array {
  const west = 10 + (id % COLUMNS) * 0.01
  const north = 50 - Math.floor(id / COLUMNS) * 0.01
  return Float64Array.of(west, north, west, north - 0.01, west + 0.01, north - 0.01, west + 0.01, north)
}

const TABLES = { clustered, shapeless, far: clustered } as const
const built: Record<string, VectorIndex> = {}

beforeAll(async () => {
  db = await openTestDatabase()
  for (const [name, vectors] of Object.entries(TABLES)) {
    const metric = name === 'far' ? 'l2' : 'cosine'
    await makeEmbeddingTable(db.database, { name, vectors, ring, entry: { metric } })
    const table = { name: `geoembeddings.${name}`, index: `${name}_hnsw`, rows: COUNT, dims: DIMS, metric } as const
    built[name] = await db.database.transaction((session) =>
      buildVectorIndex(session, table, db.database.capabilities.engine),
    )
  }
  await db.database.query(`update geoembeddings.embeddings_catalogue set approximate_index = true`)
  await db.database.query(
    `create or replace function geoembeddings.exact_budget() returns double precision language sql immutable as 'select 0::float8'`,
  )
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const definition = async (table: string): Promise<string> => {
  const { rows } = await db.database.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where tablename = '${table}' and indexdef like '%hnsw%'`,
  )
  expect(rows).toHaveLength(1)
  return rows[0]!.indexdef
}

describe('an index', () => {
  test('is over bits where they find what is near, and says how much', async () => {
    expect(built['clustered']).toEqual({ kind: 'bit', recall: expect.closeTo(1, 1) })
    expect(await definition('clustered')).toContain('bit_hamming_ops')
    expect(await readVectorIndex(db.database, 'geoembeddings.clustered')).toEqual(built['clustered'])
  })

  test('is over half precision where bits find too little', async () => {
    expect(built['shapeless']?.kind).toBe('halfvec')
    expect(built['shapeless']?.recall).toBeGreaterThan(0.9)
    expect(await definition('shapeless')).toContain('halfvec_cosine_ops')
  })

  test('is over half precision where distances are measured', async () => {
    expect(built['far']).toEqual({ kind: 'halfvec', recall: expect.closeTo(1, 1) })
    expect(await definition('far')).toContain('halfvec_l2_ops')
  })

  test('that is not there is none, and one that says nothing of itself is over half precision', async () => {
    await db.database.query('create table geoembeddings.bare (id bigint primary key, embedding vector(3))')
    expect(await readVectorIndex(db.database, 'geoembeddings.bare')).toBeNull()
    await db.database.query(
      'create index on geoembeddings.bare using hnsw ((embedding::halfvec(3)) halfvec_cosine_ops)',
    )
    expect(await readVectorIndex(db.database, 'geoembeddings.bare')).toEqual({ kind: 'halfvec', recall: null })
  })

  test.each([
    ['', 'clustered'],
    [`, spatial_filter => st_makeenvelope(10, 49.7, 10.15, 50, 4326)`, 'clustered'],
    ['', 'far'],
  ])('finds with%s what the exact scan finds in %s, in its order', async (filter, table) => {
    const find = async (exact: boolean, id: number): Promise<number[]> => {
      const { rows } = await db.database.query<{ id: number }>(
        `select id from geoembeddings.similarity_search(
           table_name => '${table}', patch_id => ${id}, result_limit => 10, exact => ${exact} ${filter})`,
      )
      return rows.map((row) => row.id)
    }
    let hits = 0
    for (const id of [1, 300, 700, 999]) {
      const exact = await find(true, id)
      const found = await find(false, id)
      expect(exact).toHaveLength(10)
      expect(found.filter((one) => exact.includes(one))).toEqual(exact.filter((one) => found.includes(one)))
      hits += exact.filter((one) => found.includes(one)).length
    }
    expect(hits).toBeGreaterThanOrEqual(38)
  })

  test('is what a search goes to', async () => {
    const { rows } = await db.database.query<{ line: string }>(
      `select line from (select 1) one cross join lateral (
         select geoembeddings.indexed_expression('bit', obj_description('geoembeddings.clustered_hnsw'::regclass)::jsonb ->> 'center',
           ${DIMS}, 'embedding') as line) x`,
    )
    const plan = await db.database.transaction(async (session) => {
      await session.query('set local enable_seqscan = off')
      const explained = await session.query<Record<string, string>>(
        `explain select id from geoembeddings.clustered order by (${rows[0]!.line}) <~> (select ${rows[0]!.line} from geoembeddings.clustered where id = 5) limit 5`,
      )
      return explained.rows.map((row) => Object.values(row)[0]).join('\n')
    })
    expect(plan).toContain('Index Scan using clustered_hnsw')
  })
})
