import { randomUUID } from 'node:crypto'
import { breaksOf, legendOf, type Coloring, type Distribution, type LegendEntry } from '@terrane/map-style'
import { randomCases } from '@terrane/testing/property'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, USER, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
})
afterAll(() => origin[Symbol.asyncDispose]())

const maps = (key: string) => origin.client(key, 'geoembeddings')
const save = (key: string, id: string, version: number, { title = 'A map', style = {} } = {}) =>
  maps(key).rpc('save_map', { p_id: id, p_version: version, p_title: title, p_style: style })

test('a save makes the next version, a stale one is refused and told, and the same save sent twice is one', async () => {
  const id = randomUUID()
  const { service } = origin.keys
  expect((await save(service, id, 0)).data).toMatchObject({ id, version: 1 })
  expect((await save(service, id, 1, { title: 'Second' })).data).toMatchObject({ version: 2 })
  expect((await save(service, id, 1, { title: 'Second' })).data).toMatchObject({ version: 2 })
  const stale = await save(service, id, 1, { title: 'Another' })
  expect([stale.status, stale.error?.message]).toEqual([409, 'the map was saved as version 2 since version 1'])
  expect((await save(service, id, 0, { title: 'Third' })).status).toBe(409)
  const versions = await maps(service).from('map_versions').select('version,title').eq('map_id', id).order('version')
  expect(versions.data).toEqual([
    { version: 1, title: 'A map' },
    { version: 2, title: 'Second' },
  ])
  expect((await save(service, randomUUID(), 3)).status).toBe(404)
  expect((await save(service, id, 2, { title: '' })).status).toBe(400)
  expect((await save(service, id, 2, { style: { text: 'x'.repeat(1_048_577) } })).status).toBe(400)
})

test('a map is its owner’s: others see what was published of it while it is public, and only the service role publishes', async () => {
  const id = randomUUID()
  const { service, user, anon } = origin.keys
  const stranger = await origin.sign({ sub: randomUUID(), role: 'authenticated' })
  await save(user, id, 0)
  const seen = async (key: string) => (await maps(key).from('maps').select('owner_uuid').eq('id', id)).data
  expect([await seen(user), await seen(stranger), await seen(anon)]).toEqual([[{ owner_uuid: USER }], [], null])
  expect((await save(stranger, id, 1, { title: 'Mine' })).status).toBe(404)
  expect((await save(anon, id, 1, { title: 'Mine' })).status).toBe(401)
  await maps(stranger).from('maps').delete().eq('id', id)
  expect((await maps(user).from('maps').update({ is_public: true }).eq('id', id)).status).toBe(403)
  expect((await maps(stranger).from('maps').insert({ title: 'x', style: {}, owner_uuid: USER })).status).toBe(403)
  expect((await maps(service).from('maps').update({ is_public: true }).eq('id', id)).status).toBe(400)
  const published = { published_title: 'Shown', published_style: { shown: 1 }, origins: [] }
  const publish = (change: object) => maps(service).from('maps').update(change).eq('id', id)
  expect((await publish({ is_public: true, publishable_key: 'key', ...published })).error).toBeNull()
  // Later versions are not published.
  expect((await save(user, id, 1, { title: 'Secret', style: { secret: 2 } })).data).toMatchObject({ version: 2 })
  const shown = { id, title: 'Shown', style: { shown: 1 }, publishable_key: 'key', origins: [] }
  for (const key of [user, stranger, anon, service])
    expect((await maps(key).from('public_maps').select().eq('id', id)).data).toEqual([shown])
  expect([await seen(stranger), await seen(anon)]).toEqual([[], null])
  expect((await maps(anon).from('maps').select('style')).status).toBe(401)
  // A public map cannot be deleted, because its key would stay valid.
  for (const key of [user, service])
    expect((await maps(key).from('maps').delete().eq('id', id)).error?.message).toBe(`the map ${id} is public`)
  expect((await publish({ is_public: false })).error).toBeNull()
  expect((await maps(anon).from('public_maps').select().eq('id', id)).data).toEqual([])
  expect((await save(stranger, id, 1, { title: 'Mine' })).status).toBe(404)
  // Earlier versions are visible to the owner only.
  const versions = (key: string) => maps(key).from('map_versions').select('version').eq('map_id', id)
  expect([(await versions(user)).data, (await versions(stranger)).data]).toEqual([[{ version: 1 }, { version: 2 }], []])
  expect((await maps(anon).from('map_versions').select('version')).status).toBe(401)
})

test('legends of random columns have the rows that a count of each class has', async () => {
  await origin.db.database.query(
    'create table columns (a double precision, b integer, c numeric, d real, e text, geom geometry(Point, 4326))',
  )
  await origin.db.database.query('grant select on columns to service_role')
  await randomCases(50, async (random, seed) => {
    const column = ['a', 'b', 'c', 'd', 'e'][seed % 5]!
    await origin.db.database.query('truncate columns')
    await fill(column, random, [1, 30, 1e6][seed % 3]!)
    const color = column === 'e' ? await categories() : await classified(column, seed)
    const legend = legendOf(color)
    const counted = await Promise.all(legend.map((_, i) => countOf(column, legend, i)))
    expect([column, seed, legend.map(({ rows }) => rows)]).toEqual([column, seed, counted])
    const { rows: all } = await origin.db.database.query<{ n: number }>('select count(*)::int n from columns')
    expect(legend.reduce((sum, { rows }) => sum + rows, 0)).toBe(all[0]!.n)
  })
})

/** Numbers with nulls, NaN and infinity if the type has them; texts of a few kinds. */
async function fill(column: string, random: () => number, scale: number): Promise<void> {
  const { database } = origin.db
  if (column === 'e') {
    const kinds = 1 + Math.floor(random() * 12)
    const texts = Array.from({ length: 200 }, () =>
      random() < 0.1 ? null : (['', 'a', 'é "x"', '3'][Math.floor(random() * kinds)] ?? `kind ${random() < 0.5}`),
    )
    await database.query('insert into columns (e) select v from unnest($1::text[]) v', [texts])
    return
  }
  const from = random() < 0.5 ? 0.2 : -0.01
  const values = Array.from({ length: 200 }, () => {
    const value = Math.round((random() - from) * scale * 100) / 100
    return random() < 0.1 ? null : column === 'b' ? Math.round(value) : value
  })
  await database.query(`insert into columns (${column}) select v from unnest($1::float8[]) v`, [values])
  if (column !== 'b') await database.query(`insert into columns (${column}) values ('NaN'), ('Infinity')`)
}

async function classified(column: string, seed: number): Promise<Coloring> {
  const told = await classes('columns', column)
  const isPositive = told.low !== null && told.low > 0
  const method = (['quantile', 'equal', 'natural', isPositive ? 'log' : 'quantile'] as const)[seed % 4]!
  const starts = breaksOf(method, 2 + (seed % 7), told)
  const { counts, histogram, rows, missing } = await classes('columns', column, starts)
  expect(histogram.reduce((sum, n) => sum + n, 0)).toBe(told.low === told.high ? 0 : rows - missing)
  return {
    by: 'number',
    property: column,
    method,
    palette: 'viridis',
    isReversed: false,
    starts,
    high: told.high ?? 0,
    rows: counts,
    missing,
  }
}

/** Number of rows of a legend entry, counted by a separate condition. */
async function countOf(column: string, legend: readonly LegendEntry[], i: number): Promise<number> {
  const [{ of }, next] = [legend[i]!, legend[i + 1]?.of]
  const isNumber = `abs(${column}::float8) <= 1.7976931348623157e308`
  const values = legend.flatMap((entry) =>
    typeof entry.of === 'object' && 'value' in entry.of ? [entry.of.value] : [],
  )
  const conditionOf = (): string => {
    if (of === 'missing') return column === 'e' ? 'e is null' : `(${column} is null or not ${isNumber})`
    if (of === 'others') return 'e is not null and e <> all ($1::text[])'
    if ('value' in of) return `e = ($1::text[])[${i + 1}]`
    const end = typeof next === 'object' && 'from' in next ? ` and ${column}::float8 < ${next.from}` : ''
    return `${isNumber} and ${column}::float8 >= ${of.from}${end}`
  }
  const text = `select count(*)::int n from columns where ${conditionOf()}`
  const { rows } = await origin.db.database.query<{ n: number }>(text, text.includes('$1') ? [values] : [])
  return rows[0]!.n
}

/** Colours for the most frequent texts, as the console chooses them. */
async function categories(): Promise<Coloring> {
  const headers = { apikey: origin.keys.service, authorization: `Bearer ${origin.keys.service}` }
  const answer = await fetch(`${origin.url}/vector/v1/public.columns/stats?property=e`, { headers })
  const { rows, missing, values } = (await answer.json()) as {
    rows: number
    missing: number
    values: { value: string; rows: number }[]
  }
  const shown = values.slice(0, 3)
  const others = rows - missing - shown.reduce((sum, one) => sum + one.rows, 0)
  return { by: 'category', property: 'e', palette: 'vivid', values: shown, others, missing }
}

test('classes are counted under the caller’s role, of a column of numbers, and nothing else is run', async () => {
  await origin.db.database.query(
    `create table "odd ""name"")" ("x""); drop table columns; --" integer, t text);
     insert into "odd ""name"")" values (1), (2), (null);
     create table columns_of_others (n integer); insert into columns_of_others values (7)`,
  )
  await origin.db.database.query('grant select on "odd ""name"")" to service_role, anon')
  expect(await classes('odd "name")', 'x"); drop table columns; --', [1, 2])).toMatchObject({
    rows: 3,
    missing: 1,
    low: 1,
    high: 2,
    counts: [1, 1],
  })
  const ask = (key: string, table: string, column: string, breaks?: unknown) =>
    maps(key).rpc('number_classes', { p_schema: 'public', p_table: table, p_column: column, p_breaks: breaks })
  // A column that the role may not read is answered like a missing one.
  expect((await ask(origin.keys.anon, 'columns_of_others', 'n')).error?.message).toContain(
    'has no column n that you may',
  )
  expect((await ask(origin.keys.service, 'columns', 'e')).error?.message).toContain('holds no numbers but text')
  expect((await ask(origin.keys.service, 'columns', 'nothing')).error?.message).toContain('has no column')
  for (const breaks of [[2, 1], [1, 1], Array.from({ length: 13 }, (_, i) => i), [1, null]])
    expect((await ask(origin.keys.service, 'columns', 'a', breaks)).error?.message).toContain('12 ascending numbers')
})

test('rows without a text are found as the console asks for them, and times refuse an empty text', async () => {
  await origin.db.database.query(
    `create table notes (id integer, "a ""b" text, at timestamptz); grant select on notes to service_role;
     insert into notes (id, "a ""b") values (1, null), (2, ''), (3, 'x')`,
  )
  const read = async (and: string) => {
    const query = new URLSearchParams({ select: 'id', order: 'id', and })
    const headers = { apikey: origin.keys.service, authorization: `Bearer ${origin.keys.service}` }
    const answer = await fetch(`${origin.url}/rest/v1/notes?${query.toString()}`, { headers })
    return answer.ok ? ((await answer.json()) as { id: number }[]).map(({ id }) => id) : answer.status
  }
  expect(await read('(or("a \\"b".is.null,"a \\"b".eq.""))')).toEqual([1, 2])
  expect(await read('("a \\"b".neq."")')).toEqual([3])
  expect(await read('("at".neq."")')).toBe(400)
})

test('numbers far apart, alike and missing are told', async () => {
  await origin.db.database.query('create table far (n float8, one integer, none integer)')
  await origin.db.database.query('grant select on far to service_role')
  await origin.db.database.query('insert into far values (-1.7e308, 4, null), (1.7e308, 4, null), (0, 4, null)')
  const far = await classes('far', 'n', [-1.7e308, 0])
  expect([far.histogram.length, far.histogram[0], far.histogram[63], far.counts]).toEqual([64, 1, 1, [1, 2]])
  expect(await classes('far', 'one', [4])).toMatchObject({ low: 4, high: 4, histogram: [], counts: [3] })
  expect(await classes('far', 'none')).toMatchObject({ low: null, high: null, quantiles: null, missing: 3 })
})

async function classes(table: string, column: string, breaks: readonly number[] | null = null): Promise<Distribution> {
  const { data, error } = await maps(origin.keys.service).rpc('number_classes', {
    p_schema: 'public',
    p_table: table,
    p_column: column,
    ...(breaks && { p_breaks: breaks }),
  })
  if (error) throw new Error(error.message)
  return data as Distribution
}
