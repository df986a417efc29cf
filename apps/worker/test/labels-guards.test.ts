import type { TaskResults } from '@terrane/contracts'
import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from './harness.ts'
import { SIZE, gridId, makeGridTable } from './vector-tables.ts'

const OWNER = '11111111-1111-4111-8111-111111111111'
const [DIMS, SIDE] = [4, 12]
let worker: TestWorker
let count = 0
const newName = () => `g_${++count}`
const random = seededRandom(9)
/** Stripes of two columns. */
const classAt = (column: number) => Math.floor(column / 2) % 2
const rowsOf = (side = SIDE) =>
  Array.from({ length: side * side }, (_, i) => ({
    column: i % side,
    row: Math.floor(i / side),
    embedding: Float32Array.from({ length: DIMS }, (__, k) => (k === classAt(i % side) ? 1 : 0) + 0.1 * random()),
  }))
const ids = {
  a: [0, 4, 8].flatMap((column) => [0, 5, 11].map((row) => gridId(column, row))),
  b: [2, 6, 10].flatMap((column) => [0, 5, 11].map((row) => gridId(column, row))),
}

beforeAll(async () => {
  worker = await openWorker()
  await makeGridTable(worker.db.database, { name: 'grid', rows: rowsOf(), dims: DIMS })
})
afterAll(() => worker[Symbol.asyncDispose]())

async function query<Row extends Record<string, unknown>>(text: string): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text)).rows
}

async function done<Name extends keyof TaskResults>(task: Name, body: object): Promise<TaskResults[Name]> {
  const { status, body: record } = await submit(worker, task, { table: 'grid', ...body })
  expect({ status, record }).toMatchObject({ status: 202 })
  const { result, error } = await until(worker, record.links.self)
  expect(error).toBeNull()
  return result as TaskResults[Name]
}

async function fails(task: string, body: object): Promise<string | undefined> {
  const { status, body: record } = await submit(worker, task, { table: 'grid', ...body })
  return status === 202 ? (await until(worker, record.links.self)).error?.code : record.code
}

const train = (body: object) => done('trainClassifier', body)
const classify = (body: object) => done('classifyEmbeddings', body)
const codes = ({ warnings }: { readonly warnings: readonly { readonly code: string }[] }) =>
  warnings.map(({ code }) => code)

async function readAs(role: string, table: string, sub?: string): Promise<number | string> {
  return await worker.db.database
    .transaction(async (session) => {
      await session.query(`select set_config('request.jwt.claims', $1, true)`, [JSON.stringify(sub ? { sub } : {})])
      await session.query(`set local role ${role}`)
      return (await session.query(`select 1 from ${table}`)).rows.length
    })
    .catch((error: { code: string }) => error.code)
}

const box = (column: number, row: number, width: number, height = width) =>
  `st_makeenvelope(${10 + column * SIZE}, ${50 - (row + height) * SIZE}, ${10 + (column + width) * SIZE}, ${50 - row * SIZE}, 4326)`

async function shapes(rows: readonly (readonly [kind: string, geometry: string])[]): Promise<string> {
  const name = newName()
  const values = rows.map(([kind, geometry]) => `(e'${kind}', ${geometry})`)
  await query(`create table public.${name} (kind text, geom geometry)`)
  await query(`insert into public.${name} values ${values.join(', ')}`)
  return name
}

test('names of classes that differ in case or spaces are told', async () => {
  const [first, ...rest] = ids.a
  const learnt = await train({
    classifier: newName(),
    ids: { Forest: [first], 'forest\u00a0': rest, ' FOREST': ids.b },
  })
  expect(learnt.classes).toHaveLength(3)
  expect(learnt.warnings).toContainEqual(
    expect.objectContaining({ code: 'CLASSES_ALIKE', count: 1, examples: ['FOREST / Forest / forest\u00a0'] }),
  )
})

describe('an update', () => {
  test('leaves a table alone that a user made under the name of a map', async () => {
    const [classifier, tableName] = [newName(), newName()]
    await train({ classifier, ids })
    const update = { classifier, tableName, mode: 'update' }
    await classify({ classifier, tableName })
    await query(`drop table public.${tableName}`)
    await query(`create table public.${tableName} (id bigint primary key, class text, probability real, geom geometry)`)
    await query(`insert into public.${tableName} (id) values (1)`)
    expect(await fails('classifyEmbeddings', update)).toBe('NOT_A_CLASS_TABLE')
    expect(await query(`select id from public.${tableName}`)).toEqual([{ id: 1 }])
  })

  test('writes all rows anew for another classifier of the same name and version', async () => {
    const [classifier, tableName] = [newName(), newName()]
    await train({ classifier, ids })
    await classify({ classifier, tableName })
    expect(await classify({ classifier, tableName, mode: 'update' })).toMatchObject({ classified: 0, removed: 0 })
    await query(`delete from geoembeddings.classifiers where name = '${classifier}'`)
    await train({ classifier, ids: { c: ids.a, d: ids.b } })
    expect(await classify({ classifier, tableName, mode: 'update' })).toMatchObject({ version: 1, classified: 144, removed: 144 }) // prettier-ignore
  })

  test('of a table without sources writes nothing while the table is the same', async () => {
    const [table, classifier, tableName] = [newName(), newName(), newName()]
    await makeGridTable(worker.db.database, { name: table, rows: rowsOf(), dims: DIMS })
    await query(`delete from geoembeddings.embedding_sources where table_name = '${table}'`)
    await train({ table, classifier, ids })
    await classify({ table, classifier, tableName })
    const update = { table, classifier, tableName, mode: 'update' }
    expect(await classify(update)).toMatchObject({ rows: 144, classified: 0 })
    await query(
      `update geoembeddings.embeddings_catalogue set job_id = gen_random_uuid() where table_name = '${table}'`,
    )
    expect(await classify(update)).toMatchObject({ rows: 144, classified: 144 })
  })

  test('waits for one that drops the map, and says that it is gone', async (context) => {
    const { database } = worker.db
    // The embedded database has one session.
    if (!database.capabilities.locks) context.skip()
    const [classifier, tableName] = [newName(), newName()]
    await train({ classifier, ids })
    await classify({ classifier, tableName })
    const code = await database.transaction(async (session) => {
      await session.query(`lock table public.${tableName} in access exclusive mode`)
      const failed = fails('classifyEmbeddings', { classifier, tableName, mode: 'update' })
      const isWaiting = `select 1 from pg_locks where relation = 'public.${tableName}'::regclass and not granted`
      await expect.poll(async () => (await query(isWaiting)).length, { timeout: 20_000 }).toBe(1)
      await session.query(`select geoembeddings.drop_table('public', '${tableName}')`)
      return { failed }
    })
    expect(await code.failed).toBe('NOT_A_CLASS_TABLE')
  })

  test('says that a map with other columns cannot be updated', async () => {
    const [classifier, tableName] = [newName(), newName()]
    await train({ classifier, ids })
    await classify({ classifier, tableName })
    await query(`alter table public.${tableName} rename column probability to certainty`)
    expect(await fails('classifyEmbeddings', { classifier, tableName, mode: 'update' })).toBe('NOT_A_CLASS_TABLE')
  })
})

describe('readers', () => {
  test.each(['replace', 'update'])('that a request names are those of a map that is there: %s', async (mode) => {
    const [classifier, tableName] = [newName(), newName()]
    await train({ classifier, ids })
    await classify({ classifier, tableName })
    expect(await readAs('anon', `public.${tableName}`)).toBe(144)
    await classify({ classifier, tableName, mode, ownerUuid: OWNER })
    const found = [await readAs('anon', `public.${tableName}`), await readAs('authenticated', `public.${tableName}`, OWNER)] // prettier-ignore
    expect(found).toEqual(['42501', 144])
  })

  test('of classes from a table that anon does not read are not anon', async () => {
    const table = await shapes([['secret', box(0, 0, 2, 12)], ['b', box(2, 0, 2, 12)]]) // prettier-ignore
    const examples = { table, column: 'kind' }
    const isPublic = async () => {
      const [classifier, tableName] = [newName(), newName()]
      await train({ classifier, examples })
      await classify({ classifier, tableName })
      const [{ open }] = (await query(`select is_public as open from geoembeddings.classifiers where name = '${classifier}'`)) as [{ open: boolean }] // prettier-ignore
      return [open, await readAs('anon', `public.${tableName}`)]
    }
    expect(await isPublic()).toEqual([false, '42501'])
    await query(`select geoembeddings.share_table('public', '${table}', 'anon')`)
    expect(await isPublic()).toEqual([true, 144])
  })

  test('a map of one owner is shared with no role, and unshare leaves it to its owner', async () => {
    const [classifier, tableName] = [newName(), newName()]
    await train({ classifier, ids })
    await classify({ classifier, tableName, ownerUuid: OWNER })
    const shared = () => query(`select shared_with from geoembeddings.list_tables() where table_name = '${tableName}'`)
    expect(await shared()).toEqual([{ shared_with: [] }])
    await query(`select geoembeddings.share_table('public', '${tableName}', 'authenticated')`)
    expect(await shared()).toEqual([{ shared_with: ['authenticated'] }])
    await query(`select geoembeddings.unshare_table('public', '${tableName}', 'authenticated')`)
    expect([await shared(), await readAs('authenticated', `public.${tableName}`, OWNER)]).toEqual([[{ shared_with: [] }], 144]) // prettier-ignore
  })
})

describe('examples', () => {
  test('overlapping polygons of a class cover what their union covers', async () => {
    const table = await shapes([
      ['a', box(0, 0, 0.4, 1)],
      ['a', box(0, 0, 0.4, 1)],
      ['b', box(0.4, 0, 0.6, 1)],
      ['b', box(5, 5, 1)],
      ['a', box(4, 4, 1)], // prettier-ignore
    ])
    const learnt = await train({ classifier: newName(), examples: { table, column: 'kind' }, minOverlap: 0.5 })
    expect(learnt.classes.map(({ name, examples }) => [name, examples])).toEqual([['a', 1], ['b', 2]]) // prettier-ignore
  })

  test('spaces around classes do not make other classes, and control characters make none', async () => {
    const table = await shapes([[' a', box(0, 0, 1)], ['b ', box(2, 0, 1)], ['x\\ty', box(4, 0, 1)]]) // prettier-ignore
    const learnt = await train({
      classifier: newName(),
      examples: { table, column: 'kind' },
      ids: { 'a ': [gridId(0, 5)], b: [gridId(2, 5)] },
      classes: ['a', ' b'],
    })
    expect(learnt.classes.map(({ name, examples }) => [name, examples])).toEqual([['a', 2], ['b', 2]]) // prettier-ignore
    expect(learnt.warnings).toContainEqual(expect.objectContaining({ code: 'EXAMPLES_WITHOUT_CLASS', count: 1 }))
  })

  test('that meet rows too often are refused before the rows are cut', async () => {
    const name = newName()
    await query(`create table public.${name} as select 'k' || n % 2 as kind, ${box(0, 0, 12)} as geom from generate_series(1, 1500) n`) // prettier-ignore
    expect(await fails('trainClassifier', { classifier: newName(), examples: { table: name, column: 'kind' } })).toBe('TOO_MANY_EXAMPLES') // prettier-ignore
  })

  test('that the server cannot bring to degrees are refused by name', async () => {
    const training = async (...geometries: string[]) => {
      const table = await shapes(geometries.map((geometry) => ['a', geometry] as const))
      return await fails('trainClassifier', { classifier: newName(), examples: { table, column: 'kind' } })
    }
    expect(await training(`st_geomfromtext('POINT(1e30 1e30)', 3857)`, `st_setsrid('POINT(1e9 1e9)'::geometry, 32632)`)).toBe('EXAMPLES_INVALID') // prettier-ignore
    expect(await training(`st_setsrid('TIN(((10 50 0, 10 49 0, 11 50 0, 10 50 0)))'::geometry, 4326)`)).toBe('EXAMPLES_INVALID') // prettier-ignore
    expect(await fails('trainClassifier', { classifier: newName(), ids: { a: [1e20], b: [1] } })).toBe('VALIDATION_FAILED') // prettier-ignore
    const feature = { type: 'Feature', properties: { class: 'a\0' }, geometry: { type: 'Point', coordinates: [10, 50] } } // prettier-ignore
    const { status, body } = await submit(worker, 'trainClassifier', { table: 'grid', classifier: 'nul', features: { type: 'FeatureCollection', features: [feature] } }) // prettier-ignore
    expect(status).toBe(422)
    expect(body).toMatchObject({ errors: [{ path: '/features/features/0/properties/class' }] })
  })

  test('of a row that is split at the antimeridian lie at it', async () => {
    const [classifier, table] = [newName(), newName()]
    await makeGridTable(worker.db.database, { name: table, rows: rowsOf(6), dims: DIMS })
    const split = `st_multi(st_wrapx(st_translate(geom, ${170 - 3.5 * SIZE}, 0), 180, -360))`
    await query(`alter table geoembeddings.${table} alter column geom type geometry(MultiPolygon, 4326) using ${split}`)
    const places = { a: [0, 1, 4, 5].map((column) => gridId(column, 0)), b: [2, 3].map((column) => gridId(column, 0)) }
    const learnt = await train({ table, classifier, ids: places, blockMeters: 50 })
    // 1.05 times the diagonal of a thousandth of a degree at 50 degrees north.
    expect(learnt.validation).toMatchObject({ gap_meters: expect.closeTo(138.6, 0) })
  })
})

test('a map of a classifier that was not calibrated says so', async () => {
  const classifier = newName()
  expect(codes(await train({ classifier, ids: { a: [gridId(0, 0)], b: [gridId(2, 0)] } }))).toContain('NOT_VALIDATED')
  expect(codes(await classify({ classifier, tableName: newName() }))).toEqual(['NOT_CALIBRATED'])
})

test('the record of a map of clusters has the version of its centres', async () => {
  const tableName = newName()
  const { version } = await done('clusterEmbeddings', { clusters: 2, tableName })
  expect(await query(`select source ->> 'version' as version from terrane.imports where table_name = '${tableName}'`)).toEqual([{ version: String(version) }]) // prettier-ignore
})
