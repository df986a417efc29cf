import { randomUUID } from 'node:crypto'
import { breaksOf, CLASS_METHODS, type Distribution } from '@terrane/map-style'
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
  // Deleted while it is public, its key would stay.
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

test('classes of random columns have the rows that a count of each range has', async () => {
  await origin.db.database.query('create table columns (a double precision, b integer, c numeric, d real, e text)')
  await origin.db.database.query('grant select on columns to service_role')
  await randomCases(50, async (random, seed) => {
    const column = ['a', 'b', 'c', 'd'][seed % 4]!
    const scale = [1, 30, 1e6][seed % 3]!
    const values = Array.from({ length: 200 }, () =>
      random() < 0.1 ? null : Math.round((random() - 0.2) * scale * 100) / 100,
    )
    const whole = values.map((value) => (value !== null && column === 'b' ? Math.round(value) : value))
    await origin.db.database.query('truncate columns')
    await origin.db.database.query(`insert into columns (${column}) select v from unnest($1::float8[]) v`, [whole])
    if (column === 'a') await origin.db.database.query(`insert into columns (a) values ('NaN'), ('Infinity')`)
    const told = await classes('columns', column)
    const method = CLASS_METHODS[seed % 3]!
    const starts = breaksOf(method, 2 + (seed % 7), told)
    const { counts, histogram, rows, missing } = await classes('columns', column, starts)
    const expected = await Promise.all(
      starts.map(async (from, i) => {
        const above = i === 0 ? '' : `and ${column}::float8 >= ${from}`
        const below = starts[i + 1] === undefined ? '' : `and ${column}::float8 < ${starts[i + 1]}`
        const { rows: found } = await origin.db.database.query<{ n: number }>(
          `select count(*)::int n from columns where abs(${column}::float8) < 'Infinity' ${above} ${below}`,
        )
        return found[0]!.n
      }),
    )
    expect([method, counts]).toEqual([method, expected])
    const filled = rows - missing
    expect(histogram.reduce((sum, n) => sum + n, 0)).toBe(told.low === told.high ? 0 : filled)
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(filled)
  })
})

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
