import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'

const DIMS = 24
const COUNT = 300
/** Rows that are similar to no other. */
const ODD = [41, 200, 299]
let db: TestDatabase

const random = seededRandom(23)
const gaussian = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

function square(id: number): Float64Array {
  const [west, north] = [10 + (id % 20) * 0.01, 50 - Math.floor(id / 20) * 0.01]
  return Float64Array.of(west, north, west, north - 0.01, west + 0.01, north - 0.01, west + 0.01, north)
}

/** Three components of known size along the first three dimensions, added to a base. */
const parts = Array.from({ length: COUNT }, () => [3 * gaussian(), 2 * gaussian(), gaussian()] as const)
const plain = parts.map((part) =>
  Float32Array.from({ length: DIMS }, (_, d) => 5 + (d < 3 ? part[d]! : 0.02 * gaussian())),
)
const crowd = Array.from({ length: COUNT }, (_, id) =>
  Float32Array.from({ length: DIMS }).map((_value, d) => (ODD.includes(id) ? gaussian() : d + 0.5 * gaussian())),
)

beforeAll(async () => {
  db = await openTestDatabase()
  await makeEmbeddingTable(db.database, { name: 'plain', vectors: plain, ring: square, entry: { metric: 'l2' } })
  await makeEmbeddingTable(db.database, { name: 'crowd', vectors: crowd, ring: square })
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function rowsOf<T extends object>(call: string): Promise<T[]> {
  const { rows } = await db.database.query<{ row: T }>(`select to_jsonb(s) as row from geoembeddings.${call} s`)
  return rows.map(({ row }) => row)
}

interface Colored {
  readonly id: number
  readonly color: string
  readonly pc1: number
  readonly pc2: number
  readonly pc3: number
  readonly geom: object | null
}

const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length
function correlation(a: readonly number[], b: readonly number[]): number {
  const [ma, mb] = [mean(a), mean(b)]
  const of = (x: readonly number[], mx: number, y: readonly number[], my: number) =>
    x.reduce((sum, v, i) => sum + (v - mx) * (y[i]! - my), 0)
  return of(a, ma, b, mb) / Math.sqrt(of(a, ma, a, ma) * of(b, mb, b, mb))
}

test('false colours are the three principal components, from their 2nd to their 98th percentile', async () => {
  const found = await rowsOf<Colored>(`embedding_colors(table_name => 'plain')`)
  expect(found.map(({ id }) => id)).toEqual(Array.from({ length: COUNT }, (_, id) => id))
  for (const [n, name] of (['pc1', 'pc2', 'pc3'] as const).entries()) {
    const component = found.map((row) => row[name])
    expect(Math.abs(correlation(component, parts.map((part) => part[n]!)))).toBeGreaterThan(0.98) // prettier-ignore
    const levels = found.map(({ color }) => Number.parseInt(color.slice(1 + 2 * n, 3 + 2 * n), 16))
    const sorted = component.toSorted((a, b) => a - b)
    const at = (share: number) => {
      const place = share * (COUNT - 1)
      const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
      return low + (high - low) * (place % 1)
    }
    for (const [i, level] of levels.entries()) {
      const share = (component[i]! - at(0.02)) / (at(0.98) - at(0.02))
      expect(Math.abs(level - 255 * Math.min(1, Math.max(0, share)))).toBeLessThan(0.6)
    }
  }
  // Components are uncorrelated.
  expect(Math.abs(correlation(found.map(({ pc1 }) => pc1), found.map(({ pc2 }) => pc2)))).toBeLessThan(0.02) // prettier-ignore
  const again = await rowsOf<Colored>(`embedding_colors(table_name => 'plain', result_limit => 2, result_offset => 5, include_geom => false)`) // prettier-ignore
  expect(again.map(({ color }) => color)).toEqual(found.slice(5, 7).map(({ color }) => color))
  expect(again[0]!.geom).toBeNull()
})

test('vectors that are all alike are grey', async () => {
  const vectors = Array.from({ length: 5 }, () => Float32Array.of(1, 2, 3))
  await makeEmbeddingTable(db.database, { name: 'alike', vectors, ring: square })
  expect(new Set((await rowsOf<Colored>(`embedding_colors(table_name => 'alike')`)).map(({ color }) => color))).toEqual(
    new Set(['#808080']),
  )
})

test('outliers are the rows that nothing is like', async () => {
  const found = await rowsOf<{ id: number; distance: number; nearest_id: number; geom: object | null }>(
    `embedding_outliers(table_name => 'crowd', result_limit => 5, compared => 400, include_geom => true)`,
  )
  expect(new Set(found.slice(0, 3).map(({ id }) => id))).toEqual(new Set(ODD))
  const cosine = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, v, d) => sum + v * b[d]!, 0) / Math.hypot(...a) / Math.hypot(...b)
  for (const { id, distance, nearest_id: nearest, geom } of found) {
    const others = crowd.map((vector, other) => (other === id ? 3 : 1 - cosine(crowd[id]!, vector)))
    expect(distance).toBeCloseTo(Math.min(...others), 5)
    expect(others[nearest]).toBeCloseTo(distance, 5)
    expect(geom).not.toBeNull()
  }
  const sampled = await rowsOf<{ id: number }>(`embedding_outliers(table_name => 'crowd', result_limit => 4)`)
  expect(sampled.filter(({ id }) => ODD.includes(id)).length).toBeGreaterThanOrEqual(2)
  await expect(rowsOf(`embedding_outliers(table_name => 'crowd', compared => 1)`)).rejects.toMatchObject({
    code: '22023',
  })
})

test('the farthest rows are the most unlike ones', async () => {
  const search = (more: string) =>
    rowsOf<{ id: number; similarity: number }>(`similarity_search(table_name => 'crowd', patch_id => 7, ${more})`)
  const nearest = await search('similarity_threshold => -1')
  const farthest = await search('farthest => true, result_limit => 10')
  expect(farthest.map(({ id }) => id)).toEqual(
    nearest
      .slice(-10)
      .map(({ id }) => id)
      .toReversed(),
  )
  expect(farthest[0]!.similarity).toBeCloseTo(nearest.at(-1)!.similarity, 5)
  await expect(rowsOf(`similarity_search(table_name => 'plain', patch_id => 7, farthest => true)`)).rejects.toMatchObject({ code: '22023' }) // prettier-ignore
})

test('tables that are not shown to a role are not coloured or searched for outliers by it', async () => {
  await makeEmbeddingTable(db.database, { name: 'hidden', vectors: plain, ring: square, entry: { isPublic: false } })
  for (const call of ['embedding_colors', 'embedding_outliers', 'change_series']) {
    const asked = db.database.transaction(async (session) => {
      await session.query('set local role anon')
      await session.query(`select * from geoembeddings.${call}(table_name => 'hidden')`)
    })
    await expect(asked).rejects.toMatchObject({ code: '42P01' })
  }
})
