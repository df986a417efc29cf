import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { streamEmbeddingTable } from '../../test/embedding-tables.ts'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { CatalogueEntry } from './catalogue.ts'
import type { EmbeddingRow } from './embedding-table.ts'
import { writeSources } from './sources.ts'

const DIMS = 32
const COLUMNS = 15
const PLACES = 120
const DAYS = ['2023-04-02', '2023-06-20', '2023-09-01', '2024-01-15', '2024-04-03', '2024-07-30']
let db: TestDatabase

const random = seededRandom(19)
const gaussian = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
const draw = (size: number) => Float32Array.from({ length: DIMS }, () => size * gaussian())
const sum = (...parts: readonly Float32Array[]) =>
  Float32Array.from({ length: DIMS }, (_, d) => parts.reduce((total, part) => total + part[d]!, 0))

/** Tiles of 0.01 degrees, moved by a part of their side. */
function square(place: number, shift = 0): Float64Array {
  const [west, north] = [10 + ((place % COLUMNS) + shift) * 0.01, 50 - Math.floor(place / COLUMNS) * 0.01]
  return Float64Array.of(west, north, west, north - 0.01, west + 0.01, north - 0.01, west + 0.01, north)
}

interface Look {
  readonly source: number
  readonly place: number
  readonly vector: Float32Array
  readonly shift?: number
}

async function makeSeries(name: string, looks: readonly Look[], entry: Partial<CatalogueEntry> = {}): Promise<void> {
  async function* batches(): AsyncGenerator<EmbeddingRow[]> {
    yield looks.map(({ source, place, vector, shift }) => ({
      id: source * 2 ** 32 + place,
      polygons: [square(place, shift)],
      embedding: vector,
      attributes: [place, 0, 0, 0, 1],
    }))
  }
  await streamEmbeddingTable(db.database, { name, rows: looks.length, dims: DIMS, batches, entry })
  const about = { profile: null, crs: null, dataType: null, bbox: null, version: null, error: null }
  const counts = { status: 'done', skipped: 0, zeroVectors: 0 } as const
  // Numbers of sources are not in the order of their dates.
  const sources = DAYS.map((datetime, i) => {
    const source = numberOf(i)
    const rows = looks.filter((look) => look.source === source).length
    return { ...about, ...counts, source, name: `${source}`, datetime, rows }
  })
  await writeSources(db.database, name, '0199b1f0-0000-7000-8000-00000000ffff', sources)
}

/** The number of the source of a date. */
const numberOf = (day: number) => (day * 5 + 3) % 7

async function rowsOf<T extends object>(call: string): Promise<T[]> {
  const { rows } = await db.database.query<{ row: T }>(`select to_jsonb(s) as row from geoembeddings.${call} s`)
  return rows.map(({ row }) => row)
}

interface Series {
  readonly id: number
  readonly dates: number
  readonly trend: number
  readonly trend_share: number
  readonly break_date: string
  readonly break_share: number
  readonly change_score: number
  readonly break_z: number | null
}

const series = (table: string, more = '') => rowsOf<Series>(`change_series(table_name => '${table}' ${more})`)
const placeOf = (id: number) => id % 2 ** 32

/**
 * Six vectors of each place, with noise and a common change of light per date. A fifth of the places changes for good
 * on one of the dates.
 */
const ground = Array.from({ length: PLACES }, () => draw(1))
const light = DAYS.map(() => draw(0.5))
const changes = new Map(
  Array.from({ length: PLACES / 5 }, (_, i) => [i * 5, { day: 1 + (i % 5), to: draw(1) }] as const),
)
const looks = DAYS.flatMap((_, day) =>
  ground.map((before, place): Look => {
    const change = changes.get(place)
    const shown = change !== undefined && day >= change.day ? change.to : before
    return { source: numberOf(day), place, vector: sum(shown, light[day]!, draw(0.15)), shift: day * 0.02 }
  }),
)

beforeAll(async () => {
  db = await openTestDatabase()
  await makeSeries('many', looks)
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

describe('a series of dates', () => {
  test('finds the places that changed, and when', async () => {
    const found = await series('many')
    expect(found).toHaveLength(PLACES)
    const first = found.slice(0, changes.size)
    const right = first.filter(({ id, break_date: date }) => DAYS[changes.get(placeOf(id))?.day ?? -1] === date)
    expect(right.length / changes.size).toBeGreaterThanOrEqual(0.95)
    expect(first.every(({ dates, break_share: share }) => dates === 6 && share > 0.6)).toBe(true)
    expect(first.at(-1)!.break_z).toBeGreaterThan(3 * found[changes.size]!.break_z!)
  })

  test('finds them where clouds hide looks, too', async () => {
    const hidden = seededRandom(3)
    await makeSeries(
      'cloudy',
      looks.filter(() => hidden() > 0.15),
    )
    const found = (await series('cloudy')).slice(0, changes.size)
    // The first row after the change may be hidden; the next one counts then.
    const right = found.filter(({ id, break_date: date }) => {
      const day = changes.get(placeOf(id))?.day
      return day !== undefined && (DAYS[day] === date || DAYS.indexOf(date) === day + 1)
    })
    expect(right.length / changes.size).toBeGreaterThanOrEqual(0.95)
  })

  test('tells a drift from a break, and its slope a year', async () => {
    const slope = draw(1)
    const length = Math.hypot(...slope)
    const years = DAYS.map((day) => (Date.parse(day) - Date.parse(DAYS[0]!)) / (365.25 * 86_400_000))
    const drifting = DAYS.flatMap((_, day) =>
      [0, 1].map((place): Look => {
        const moved = slope.map((x) => x * (place === 0 ? years[day]! : day < 3 ? 0 : 1))
        return { source: numberOf(day), place, vector: sum(ground[place]!, moved) }
      }),
    )
    await makeSeries('drift', drifting, { metric: 'l2' })
    const [drift, step] = (await series('drift')).toSorted((a, b) => placeOf(a.id) - placeOf(b.id))
    expect(drift!.trend).toBeCloseTo(length, 3)
    expect(drift!.trend_share).toBeCloseTo(1, 4)
    expect(drift!.break_share).toBeLessThan(0.9)
    expect(step).toMatchObject({ break_date: DAYS[3], break_z: null })
    expect(step!.break_share).toBeCloseTo(1, 4)
    expect(step!.change_score).toBeCloseTo(1 - 1 / (1 + length), 4)
    expect(step!.trend_share).toBeLessThan(0.9)
  })

  test('takes a part in time, and refuses what is too much or not a series', async () => {
    const [one] = await series('many', `, since => '2023-09-01', result_limit => 1`)
    expect(one).toMatchObject({ dates: 4 })
    expect(await series('many', `, until => '2023-08-01'`)).toEqual([])
    expect(await series('many', `, spatial_filter => 'POINT(10.005 49.995)'`)).toHaveLength(1)
    await expect(series('many', ', min_overlap => 0')).rejects.toMatchObject({ code: '22023' })
    await db.database.query(`insert into geoembeddings.embedding_sources (table_name, source, name, datetime, status)
      select 'many', i, i::text, '2020-01-01'::date + i, 'done' from generate_series(100, 140) i`)
    await db.database
      .query(`insert into geoembeddings.many select (i::bigint << 32), geom, embedding, tile_x, tile_y, px, py, valid_fraction
      from geoembeddings.many, generate_series(100, 140) i where id = ${numberOf(0) * 2 ** 32}`)
    await expect(series('many')).rejects.toMatchObject({
      code: '22023',
      message: expect.stringContaining('47 dates') as string,
    })
    await db.database.query(`delete from geoembeddings.many where id >= 100::bigint << 32;
      delete from geoembeddings.embedding_sources where table_name = 'many' and source >= 100`)
  })
})

describe('a search', () => {
  interface Hit {
    readonly id: number
    readonly similarity: number
  }
  const search = (more: string) =>
    rowsOf<Hit>(`similarity_search(table_name => 'many', patch_id => 7, similarity_threshold => -1, ${more})`)

  test('of the latest looks has each place once, by its newest look', async () => {
    const sources = (hits: readonly Hit[]) => new Set(hits.map(({ id }) => Math.floor(id / 2 ** 32)))
    const all = await search('latest => true')
    expect(all).toHaveLength(PLACES)
    expect(sources(all)).toEqual(new Set([numberOf(5)]))
    const page = await search('latest => true, result_limit => 5, result_offset => 2')
    expect(page).toEqual(all.slice(2, 7))
    const before = await search(`latest => true, until => '2023-07-01'`)
    expect(before).toHaveLength(PLACES)
    expect(sources(before)).toEqual(new Set([numberOf(1)]))
    const summary = await rowsOf<{ row_count: number }>(
      `similarity_summary(table_name => 'many', patch_id => 7, latest => true)`,
    )
    expect(summary).toMatchObject([{ row_count: PLACES }])
  })

  test('goes by the times of rows where a table has them', async () => {
    await db.database.query(`create table geoembeddings.places (like geoembeddings.many including all)`)
    await db.database.query(`alter table geoembeddings.places add datetime timestamptz`)
    await db.database
      .query(`insert into geoembeddings.places select (m.id & 4294967295) + (m.id >> 32) * 1000, m.geom, m.embedding, m.tile_x, m.tile_y, m.px,
        m.py, m.valid_fraction, m.label_name, s.datetime
      from geoembeddings.many m join geoembeddings.list_sources('many') s on s.source = m.id >> 32`)
    await db.database.query(`update geoembeddings.places set datetime = null where tile_x = 3`)
    await db.database
      .query(`insert into geoembeddings.embeddings_catalogue (table_name, model_name, model_sha256, dims, rows)
      values ('places', 'm', 'aa', ${DIMS}, ${looks.length})`)
    const found = (more: string) =>
      rowsOf<Hit>(`similarity_search(table_name => 'places', patch_id => 3007, similarity_threshold => -1, ${more})`)
    expect(await found(`since => '2024-01-01', until => '2024-05-01'`)).toHaveLength(2 * (PLACES - 1))
    await db.database.query('analyze geoembeddings.places')
    const heard: string[] = []
    await db.database.session(async ({ client }) => {
      const listen = ({ message }: { message?: string | undefined }) => heard.push(message ?? '')
      client.on('notice', listen)
      await client.query(
        `select * from geoembeddings.similarity_search(table_name => 'places', patch_id => 3007, since => '2024-01-01')`,
      )
      client.off('notice', listen)
    })
    // The number is an estimate of the statistics.
    expect(heard).toEqual([expect.stringMatching(/^about \d+ rows of embedding table "places" have no time/)])
    // Rows of one source without a time have no order, so all of them are kept.
    expect(await found('latest => true')).toHaveLength(PLACES - 1 + DAYS.length)
    expect(await series('places')).toHaveLength(PLACES - 1)
  })

  test('answers calls of the release before as they were', async () => {
    const from = (call: string) => rowsOf<Hit>(`similarity_search('many', ${call})`)
    expect(await from(`7, 'none', -1, 5`)).toEqual([])
    const [named] = await rowsOf<Hit>(
      `similarity_search(table_name => 'many', patch_id => ${numberOf(5) * 2 ** 32 + 7})`,
    )
    expect(await from(`${numberOf(5) * 2 ** 32 + 7}, null::text, -1, 1`)).toEqual([named])
    expect(await from(`10.075, 49.995, 50, 'm', null, -1, 3`)).toHaveLength(3)
    expect(await from(`'SRID=4326;POINT(10.075 49.995)'::geometry, null, -1, 3`)).toHaveLength(3)
    expect(await from(`array_fill(1::real, array[${DIMS}])::vector, null, -1, 3`)).toHaveLength(3)
    expect(await from(`'{"many": [${named!.id}]}'::jsonb, null, null, -1, 1`)).toMatchObject([{ id: named!.id }])
    expect(await from(`array[${named!.id}]::bigint[], null, null, null, -1, 1`)).toMatchObject([{ id: named!.id }])
    expect(await rowsOf(`similarity_summary('many', ${named!.id})`)).toMatchObject([{ row_count: looks.length }])
  })
})
