import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Session } from '../database.ts'
import { makeEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { CatalogueEntry } from './catalogue.ts'
import { writeSources } from './sources.ts'

const DIMS = 8
const COLUMNS = 10
let db: TestDatabase

const random = seededRandom(7)
const gaussian = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
const vectors = Array.from({ length: 60 }, (_, id) =>
  id === 17 ? new Float32Array(DIMS) : Float32Array.from({ length: DIMS }, gaussian),
)
const shifted = vectors.map((v, id) => (id === 23 ? v.map((x) => -x) : v))

/** Tiles of 0.01 degrees in rows of ten from (10, 50) to the south-east. */
function square(id: number): Float64Array {
  const west = 10 + (id % COLUMNS) * 0.01
  const north = 50 - Math.floor(id / COLUMNS) * 0.01
  return Float64Array.of(west, north, west, north - 0.01, west + 0.01, north - 0.01, west + 0.01, north)
}

function makeTable(name: string, rows: readonly Float32Array[], entry: Partial<CatalogueEntry> = {}): Promise<void> {
  return makeEmbeddingTable(db.database, { name, vectors: rows, ring: square, entry })
}

beforeAll(async () => {
  db = await openTestDatabase()
  await makeTable('a', vectors)
  await makeTable('b', shifted)
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0
  let aa = 0
  let bb = 0
  for (let i = 0; i < a.length; i++) {
    dot += (a[i] as number) * (b[i] as number)
    aa += (a[i] as number) ** 2
    bb += (b[i] as number) ** 2
  }
  return dot / Math.sqrt(aa * bb)
}

/** The expected answer: every non-zero vector by cosine, best first. */
function brute(query: Float32Array, threshold = 0): { id: number; similarity: number }[] {
  return vectors
    .map((v, id) => ({ id, similarity: cosine(query, v) }))
    .filter((r) => r.similarity >= threshold)
    .toSorted((x, y) => y.similarity - x.similarity || x.id - y.id)
}

interface Hit {
  id: number
  similarity: number
  change_score?: number
  geom?: unknown
  embedding?: string | null
}

async function call(
  args: string,
  session: Pick<Session, 'query'> = db.database,
  fn = 'similarity_search',
): Promise<Hit[]> {
  const { rows } = await session.query<{ hit: Hit }>(`select to_jsonb(s) as hit from geoembeddings.${fn}(${args}) s`)
  return rows.map((row) => row.hit)
}

function expectHits(actual: readonly Hit[], expected: readonly { id: number; similarity: number }[]) {
  expect(actual.map((h) => h.id)).toEqual(expected.map((h) => h.id))
  actual.forEach((hit, i) => expect(hit.similarity).toBeCloseTo(expected[i]?.similarity ?? Number.NaN, 5))
}

describe('by tile', () => {
  test('every tile like it, best first, equals brute force; the vector of zeros is never returned', async () => {
    const hits = await call(`table_name => 'a', patch_id => 5`)
    expectHits(hits, brute(vectors[5] as Float32Array))
    expect(hits[0]).toMatchObject({ id: 5 })
    expect(hits.some((h) => h.id === 17)).toBe(false)
  })

  test('threshold, limit and offset page through the same order', async () => {
    const all = brute(vectors[5] as Float32Array, -1)
    expectHits(await call(`table_name => 'a', patch_id => 5, similarity_threshold => -1`), all)
    expectHits(
      await call(`table_name => 'a', patch_id => 5, similarity_threshold => -1, result_limit => 7, result_offset => 3`),
      all.slice(3, 10),
    )
    const above = brute(vectors[5] as Float32Array, 0.4)
    expectHits(await call(`table_name => 'a', patch_id => 5, similarity_threshold => 0.4`), above)
  })

  test('geometry and vector come when asked for', async () => {
    const [bare] = await call(`table_name => 'a', patch_id => 5, result_limit => 1`)
    expect(bare).toMatchObject({ geom: null, embedding: null })
    const [full] = await call(
      `table_name => 'a', patch_id => 5, result_limit => 1, include_geom => true, include_embeddings => true`,
    )
    expect(full?.geom).toMatchObject({ type: 'Polygon' })
    expect(Float32Array.from(JSON.parse(full?.embedding ?? '[]') as number[])).toEqual(vectors[5])
  })

  test('a spatial filter keeps what it touches, in any SRID', async () => {
    const inside = new Set([0, 1, 10, 11])
    const filter = `st_makeenvelope(10.001, 49.981, 10.019, 49.999, 4326)`
    const expected = brute(vectors[5] as Float32Array, -1).filter((r) => inside.has(r.id))
    const args = `table_name => 'a', patch_id => 5, similarity_threshold => -1`
    expectHits(await call(`${args}, spatial_filter => ${filter}`), expected)
    expectHits(await call(`${args}, spatial_filter => st_transform(${filter}, 3857)`), expected)
    expectHits(
      await call(`${args}, spatial_filter => st_setsrid(st_transform(${filter}, 3857), 0), srid => 3857`),
      expected,
    )
    expectHits(
      await call(`${args}, spatial_filter => '{"type":"Point","coordinates":[10.005,49.995]}'`),
      expected.filter((r) => r.id === 0),
    )
  })

  test('a label keeps the rows that carry it', async () => {
    await db.database.query(`update geoembeddings.a set label_name = 'water' where id in (2, 3)`)
    const hits = await call(`table_name => 'a', patch_id => 5, label_name => 'water', similarity_threshold => -1`)
    expect(new Set(hits.map((h) => h.id))).toEqual(new Set([2, 3]))
  })

  test('a zero vector is like nothing', async () => {
    expect(await call(`table_name => 'a', patch_id => 17, similarity_threshold => -1`)).toEqual([])
  })

  test.each([
    [`table_name => 'a', patch_id => 999`, 'PT404', 'no row with id 999'],
    [`table_name => 'nope', patch_id => 1`, '42P01', 'embedding table "nope" does not exist'],
    [`table_name => 'embeddings_catalogue', patch_id => 1`, '42P01', 'does not exist'],
    [`table_name => 'a; drop table x', patch_id => 1`, '42P01', 'does not exist'],
    [`table_name => 'a', patch_id => 1, result_limit => -1`, '22023', 'must not be negative'],
  ])('%s is refused', async (args, code, message) => {
    await expect(call(args)).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string })
  })
})

describe('by place', () => {
  const unit = (v: Float32Array) => v.map((x) => x / Math.sqrt(v.reduce((s, y) => s + y * y, 0)))
  const mean = (ids: number[]) => {
    const sum = new Float32Array(DIMS)
    for (const id of ids) unit(vectors[id] as Float32Array).forEach((x, i) => (sum[i] = (sum[i] as number) + x))
    return sum
  }

  test('a point stands for the tile under it', async () => {
    expectHits(await call(`table_name => 'a', lon => 10.025, lat => 49.985`), brute(vectors[12] as Float32Array))
  })
  test('a radius in degrees and one in metres pick the same tiles', async () => {
    const expected = brute(mean([1, 2, 3, 11, 12, 13, 21, 22, 23]), -1)
    const args = `table_name => 'a', lon => 10.025, lat => 49.985, similarity_threshold => -1`
    expectHits(await call(`${args}, radius => 0.0085, unit => 'deg'`), expected)
    expectHits(await call(`${args}, radius => 900`), expected.length > 0 ? expected : [])
  })
  test('a polygon stands for the tiles it touches', async () => {
    const polygon = `{"type":"Polygon","coordinates":[[[10.001,49.999],[10.011,49.999],[10.011,49.998],[10.001,49.998],[10.001,49.999]]]}`
    expectHits(
      await call(`table_name => 'a', query_geometry => '${polygon}', similarity_threshold => -1`),
      brute(mean([0, 1]), -1),
    )
  })
  test('a place without tiles finds nothing, nonsense is refused', async () => {
    expect(await call(`table_name => 'a', lon => 0, lat => 0`)).toEqual([])
    await expect(call(`table_name => 'a', lon => 0, lat => 0, unit => 'km'`)).rejects.toMatchObject({ code: '22023' })
    await expect(call(`table_name => 'a', query_geometry => 'POLYGON EMPTY'`)).rejects.toMatchObject({ code: '22023' })
  })
})

describe('two tables', () => {
  test('each place is compared with itself', async () => {
    const hits = await call(`table_name_1 => 'a', table_name_2 => 'b'`)
    expect(hits).toHaveLength(58) // 60 without the zero vector and the reversed one, which is below the threshold.
    for (const hit of hits) expect(hit.similarity).toBeCloseTo(1, 6)
  })
  test('change detection puts the changed place first', async () => {
    const hits = await call(
      `table_name_1 => 'a', table_name_2 => 'b', similarity_threshold => -1, result_limit => 2`,
      db.database,
      'change_detection',
    )
    expect(hits[0]?.id).toBe(23)
    expect(hits[0]?.change_score).toBeCloseTo(2, 5)
    expect(hits[1]?.change_score).toBeCloseTo(0, 5)
  })
  test('tables of another model or size are refused', async () => {
    await makeTable('other_model', vectors, { modelName: 'n' })
    await makeTable(
      'other_dims',
      vectors.map((v) => v.subarray(0, 4)),
    )
    for (const table of ['other_model', 'other_dims']) {
      for (const fn of ['similarity_search', 'change_detection']) {
        await expect(call(`table_name_1 => 'a', table_name_2 => '${table}'`, db.database, fn)).rejects.toMatchObject({
          code: '22023',
          message: expect.stringContaining('cannot be compared') as string,
        })
      }
    }
  })
})

describe('who may see and change what', () => {
  const OWNER = '11111111-1111-4111-8111-111111111111'
  const as = <T>(role: string, sub: string | null, work: (session: Session) => Promise<T>) =>
    db.database.transaction(async (session) => {
      await session.query(`set local role ${role}`)
      await session.query(`select set_config('request.jwt.claims', $1, true)`, [JSON.stringify({ role, sub })])
      return work(session)
    })
  const names = async (session: Session) => {
    const { rows } = await session.query<{ n: string }>(
      `select table_name as n from geoembeddings.embeddings_catalogue where table_name like 'x%' order by 1`,
    )
    return rows.map((row) => row.n)
  }
  beforeAll(async () => {
    await makeTable('x_worker', vectors)
    await makeTable('x_owned', vectors)
    await makeTable('x_public', vectors)
    await db.database.query(
      `update geoembeddings.embeddings_catalogue set owner = $1 where table_name in ('x_owned', 'x_public')`,
      [OWNER],
    )
    await db.database.query(
      `update geoembeddings.embeddings_catalogue set is_public = true where table_name = 'x_public'`,
    )
  })

  test('own, public and worker-made rows are visible, others not', async () => {
    expect(await as('anon', null, names)).toEqual(['x_public', 'x_worker'])
    expect(await as('authenticated', OWNER, names)).toEqual(['x_owned', 'x_public', 'x_worker'])
    expect(await as('authenticated', OWNER.replaceAll('1', '2'), names)).toEqual(['x_public', 'x_worker'])
    expect(await as('service_role', null, names)).toEqual(['x_owned', 'x_public', 'x_worker'])
  })
  test('search and the table itself follow the catalogue', async () => {
    const search = (session: Session) => call(`table_name => 'x_owned', patch_id => 5`, session)
    await expect(as('anon', null, search)).rejects.toMatchObject({ code: '42P01' })
    expect((await as('authenticated', OWNER, search)).length).toBeGreaterThan(1)
    const count = async (session: Session) =>
      (await session.query<{ n: number }>('select count(*) as n from geoembeddings.x_owned')).rows[0]?.n
    expect(await as('anon', null, count)).toBe(0)
    expect(await as('authenticated', OWNER, count)).toBe(60)
    expect(await as('service_role', null, count)).toBe(60)
  })
  test('is_public alone can be changed, by the owner or the service role', async () => {
    const publish = (table: string) => async (session: Session) =>
      (
        await session.query(`update geoembeddings.embeddings_catalogue set is_public = true where table_name = $1`, [
          table,
        ])
      ).rowCount
    expect(await as('authenticated', OWNER.replaceAll('1', '2'), publish('x_public'))).toBe(0)
    expect(await as('authenticated', OWNER, publish('x_worker'))).toBe(0)
    expect(await as('authenticated', OWNER, publish('x_public'))).toBe(1)
    expect(await as('service_role', null, publish('x_worker'))).toBe(1)
    await expect(as('anon', null, publish('x_public'))).rejects.toMatchObject({ code: '42501' })
    const rename = (session: Session) =>
      session.query(`update geoembeddings.embeddings_catalogue set model_name = 'z' where table_name = 'x_public'`)
    await expect(as('authenticated', OWNER, rename)).rejects.toMatchObject({ code: '42501' })
  })
  test('a table without an owner that is not public is for the service role alone', async () => {
    await makeTable('y_private', vectors, { isPublic: false })
    const seen = async (session: Session) => {
      const { rows } = await session.query<{ n: number }>(
        `select (select count(*) from geoembeddings.embeddings_catalogue where table_name = 'y_private')
           + (select count(*) from geoembeddings.y_private) as n`,
      )
      return rows[0]?.n
    }
    const search = (session: Session) => call(`table_name => 'y_private', patch_id => 5`, session)
    for (const role of ['anon', 'authenticated']) {
      expect(await as(role, OWNER, seen)).toBe(0)
      await expect(as(role, OWNER, search)).rejects.toMatchObject({ code: '42P01' })
    }
    expect(await as('service_role', null, seen)).toBe(61)
    await as('service_role', null, (session) => session.query(`select geoembeddings.share_table('geoembeddings', 'y_private', 'anon')`)) // prettier-ignore
    expect(await as('anon', null, seen)).toBe(61)
    await as('service_role', null, (session) =>
      session.query(`update geoembeddings.embeddings_catalogue set is_public = false where table_name = 'y_private'`),
    )
    expect(await as('anon', null, seen)).toBe(0)
  })
  test('names and errors of sources are for the owner and the service role, also where all may read the table', async () => {
    const entry = {
      owner: OWNER,
      isPublic: true,
      source: 'secret/a.tif',
      metadata: { source: 'secret/a.tif', level: 'tile' },
    }
    await makeTable('y_named', vectors, entry)
    const failed = {
      name: 'secret/b.tif',
      datetime: null,
      profile: null,
      crs: null,
      dataType: null,
      bbox: null,
      version: null,
    }
    await writeSources(db.database, 'y_named', '0199b1f0-0000-7000-8000-00000000ffff', [
      {
        ...failed,
        source: 1,
        status: 'failed',
        rows: 0,
        skipped: 0,
        zeroVectors: 0,
        error: { code: 'SECRET', message: 'secret' },
      },
    ])
    const texts = async (session: Session) => {
      const { rows } = await session.query<{ text: string }>(
        `select (select jsonb_agg(c)::text from geoembeddings.embeddings_catalogue c where table_name = 'y_named')
           || coalesce((select jsonb_agg(s)::text from geoembeddings.embedding_sources s), '') as text`,
      )
      return rows[0]?.text
    }
    const origins = async (session: Session) =>
      (await session.query(`select source from geoembeddings.embedding_origins where table_name = 'y_named'`)).rows
    expect(await as('anon', null, texts)).toMatch(/"y_named"/)
    expect(await as('anon', null, texts)).not.toMatch(/secret/i)
    await expect(as('anon', null, origins)).rejects.toMatchObject({ code: '42501' })
    const other = OWNER.replaceAll('1', '2')
    expect(await as('authenticated', other, texts)).not.toMatch(/secret/i)
    expect(await as('authenticated', other, origins)).toEqual([])
    for (const [role, sub] of [
      ['authenticated', OWNER],
      ['service_role', null],
    ] as const) {
      expect(await as(role, sub, texts)).toMatch(/secret\/b\.tif.*SECRET|SECRET.*secret\/b\.tif/)
      expect(await as(role, sub, origins)).toEqual([{ source: 'secret/a.tif' }])
    }
  })
  test('the trusting inner functions are not for clients', async () => {
    const inner = (session: Session) => session.query(`select * from geoembeddings.readable('x_owned')`)
    await expect(as('anon', null, inner)).rejects.toMatchObject({ code: '42501' })
  })
  test('a table is deleted by its owner or the service role only', async () => {
    const drop = (table: string) => (session: Session) =>
      session.query('select geoembeddings.delete_embedding_table(p_table_name => $1)', [table])
    await expect(as('anon', null, drop('x_worker'))).rejects.toMatchObject({ code: '42501' })
    await expect(as('authenticated', OWNER, drop('x_worker'))).rejects.toMatchObject({ code: '42501' })
    await as('authenticated', OWNER, drop('x_owned'))
    await as('service_role', null, drop('x_worker'))
    expect(await as('service_role', null, names)).toEqual(['x_public'])
    const { rows } = await db.database.query(`select to_regclass('geoembeddings.x_owned') as t`)
    expect(rows).toEqual([{ t: null }])
  })
})
