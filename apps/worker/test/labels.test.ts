// Slow: classifiers are trained and maps are written in jobs.
import type { TaskResults } from '@terrane/contracts'
import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { SIZE, gridId, makeGridTable, type GridRow, type GridTable } from './vector-tables.ts'

const OWNER = '11111111-1111-4111-8111-111111111111'
const DIMS = 12
const SIDE = 20
const CLASSES = ['field', 'forest', 'water']
let worker: TestWorker
let count = 0
const newName = () => `c_${++count}`

const random = seededRandom(5)
const noise = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
const centres = CLASSES.map(() => Float32Array.from({ length: DIMS }, noise))
/** Stripes of five columns: each class has several places. */
const classAt = (column: number) => Math.floor(column / 4) % 3
const rowOf = (column: number, row: number, source = 0): GridRow => ({
  column,
  row,
  source,
  embedding: centres[classAt(column)]!.map((x) => x + 0.3 * noise()),
})
const gridRows = (side: number, source = 0) =>
  Array.from({ length: side * side }, (_, i) => rowOf(i % side, Math.floor(i / side), source))
const scene = gridRows(SIDE)

beforeAll(async () => {
  worker = await openWorker()
  await makeTable({ name: 'scene', rows: scene })
  await query('create table public.fields (id int primary key, kind text, geom geometry(Polygon, 4326))')
  const polygons = [0, 1, 2, 3, 4].flatMap((stripe) =>
    [0, 10].map((row) => ({ kind: CLASSES[classAt(stripe * 4)]!, wkt: square(stripe * 4 + 0.9, row + 0.9, 2.2) })),
  )
  for (const [id, { kind, wkt }] of polygons.entries()) await addField(id, kind, wkt)
})
afterAll(() => worker[Symbol.asyncDispose]())

function makeTable(table: Omit<GridTable, 'dims'>): Promise<void> {
  return makeGridTable(worker.db.database, { ...table, dims: DIMS })
}

/** A square in places of the grid. */
function square(column: number, row: number, side: number): string {
  const at = (x: number, y: number) => `${10 + (column + x) * SIZE} ${50 - (row + y) * SIZE}`
  return `POLYGON((${at(0, 0)}, ${at(0, side)}, ${at(side, side)}, ${at(side, 0)}, ${at(0, 0)}))`
}

async function query<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text, values)).rows
}

async function addField(id: number, kind: string | null, wkt: string): Promise<void> {
  await query('insert into public.fields values ($1, $2, st_setsrid(st_geomfromtext($3), 4326))', [id, kind, wkt])
}

async function runTask(task: string, body: object): Promise<JobRecord> {
  const { status, body: record } = await submit(worker, task, body)
  expect({ status, record }).toMatchObject({ status: 202 })
  return until(worker, record.links.self)
}

async function succeed<Name extends keyof TaskResults>(task: Name, body: object): Promise<TaskResults[Name]> {
  const { result, error } = await runTask(task, body)
  expect(error).toBeNull()
  return result as TaskResults[Name]
}

const train = (body: object) => succeed('trainClassifier', { table: 'scene', ...body })
const classify = (body: object) => succeed('classifyEmbeddings', { table: 'scene', ...body })
const codes = ({ warnings }: TaskResults['trainClassifier']) => warnings.map(({ code }) => code)
const sizes = ({ classes }: TaskResults['trainClassifier']) => classes.map(({ name, examples }) => [name, examples])

/** Ids of the tiles of a class, spread over the scene. */
const clicks = (step = 7) =>
  Object.fromEntries(
    CLASSES.map((name, c) => [
      name,
      scene
        .filter(({ column }, i) => classAt(column) === c && i % step === 0)
        .map(({ column, row }) => gridId(column, row)),
    ]),
  )

async function rightShare(table: string): Promise<number> {
  const rows = await query<{ id: number; class: string }>(`select id, class from public.${table}`)
  return rows.filter(({ id, class: name }) => name === CLASSES[classAt((id % 2 ** 32) % 1000)]).length / rows.length
}

async function readAs(role: string, table: string, sub?: string): Promise<number | string> {
  const claims = JSON.stringify(sub ? { sub } : {})
  return await worker.db.database
    .transaction(async (session) => {
      await session.query(`select set_config('request.jwt.claims', $1, true)`, [claims])
      await session.query(`set local role ${role}`)
      return (await session.query(`select 1 from ${table}`)).rows.length
    })
    .catch((error: { code: string }) => error.code)
}

describe('a classifier of examples', () => {
  test.each(['logistic', 'linear', 'knn'])('%s: polygons of a table become a map of all tiles', async (head) => {
    const [classifier, tableName] = [newName(), newName()]
    const learnt = await train({ classifier, head, examples: { table: 'fields', column: 'kind' } })
    expect(learnt).toMatchObject({ version: 1, head, warnings: [] })
    expect(learnt.classes.map(({ name }) => name)).toEqual(CLASSES)
    expect(learnt.validation!.accuracy).toBeGreaterThan(0.9)
    const { confusion } = learnt.validation!
    expect(confusion.flat().reduce((sum, one) => sum + one, 0)).toBe(learnt.validation!.examples)
    const map = await classify({ classifier, tableName })
    expect(map).toMatchObject({ table: `public.${tableName}`, rows: SIDE * SIDE, classified: SIDE * SIDE, version: 1, warnings: [], attribution: 'Agency' }) // prettier-ignore
    expect(await rightShare(tableName)).toBeGreaterThan(0.95)
    const [facts] = await query(
      `select min(probability) >= 0 and max(probability) <= 1 as bounded, bool_and(t.geom && s.geom) as placed, count(*) as n
       from public.${tableName} t join geoembeddings.scene s using (id)`,
    )
    expect(facts).toEqual({ bounded: true, placed: true, n: SIDE * SIDE })
  })

  test('a tile takes the class that covers most of it, and a tile that is only touched gives no example', async () => {
    await query('create table public.two (kind text, geom geometry(Polygon, 4326))')
    const add = (kind: string, wkt: string) => query(`insert into public.two values ($1, st_setsrid(st_geomfromtext($2), 4326))`, [kind, wkt]) // prettier-ignore
    await add('a', square(0, 0, 1))
    await add('b', square(0.7, 0, 1))
    await add('b', square(9, 9, 1))
    const learnt = await train({ classifier: newName(), examples: { table: 'two', column: 'kind' }, minOverlap: 0.4 })
    // a: tile 0. b: 0.7 of tile 1, and the far one.
    expect(sizes(learnt)).toEqual([['a', 1], ['b', 2]]) // prettier-ignore
    expect(codes(learnt)).toContain('CLASSES_WITH_ONE_EXAMPLE')
  })

  test('GeoJSON points and clicks are examples; what is none is counted by its reason', async () => {
    const point = (kind: unknown, column: number, row: number) => ({
      type: 'Feature',
      properties: { crop: kind },
      geometry: { type: 'Point', coordinates: [10 + (column + 0.5) * SIZE, 50 - (row + 0.5) * SIZE] },
    })
    const features = [
      ...[0, 5, 12, 19].map((row) => point('field', 1, row)),
      ...[0, 5, 12, 19].map((row) => point('forest', 5, row)),
      point('forest', 1, 0), // The same tile as the first.
      point('sea', 500, 500),
      point(null, 2, 2),
      { type: 'Feature', properties: { crop: 'field' }, geometry: null },
    ]
    const ids = { water: [gridId(9, 1), gridId(9, 15), 123_456_789], field: [gridId(9, 15)] }
    const learnt = await train({
      classifier: newName(),
      features: { type: 'FeatureCollection', features },
      property: 'crop',
      ids,
    })
    const counted = Object.fromEntries(learnt.warnings.map(({ code, count: n }) => [code, n]))
    expect(counted).toMatchObject({ EXAMPLES_CONFLICT: 2, EXAMPLES_OFF_TABLE: 2, EXAMPLES_WITHOUT_CLASS: 1, EXAMPLES_WITHOUT_PLACE: 1, CLASSES_WITH_ONE_EXAMPLE: 1 }) // prettier-ignore
    expect(sizes(learnt)).toEqual([['field', 3], ['forest', 4], ['water', 1]]) // prettier-ignore
  })

  test('a name gets versions, and a map of the first is still to be had', async () => {
    const [classifier, one, two] = [newName(), newName(), newName()]
    const { forest, water } = clicks()
    expect(await train({ classifier, ids: { forest, water } })).toMatchObject({ version: 1 })
    expect(await train({ classifier, ids: clicks() })).toMatchObject({ version: 2 })
    expect((await classify({ classifier, tableName: one, version: 1 })).classes).toHaveLength(2)
    const map = await classify({ classifier, tableName: two })
    expect([map.version, map.classes.length]).toEqual([2, 3])
  })

  test('classes can be chosen, and probabilities are those of a calibrated head', async () => {
    const learnt = await train({ classifier: newName(), ids: clicks(3), classes: ['field', 'water'] })
    expect(codes(learnt)).toEqual(['CLASSES_LEFT_OUT'])
    expect(learnt.validation!.calibration_error).toBeLessThan(0.15)
  })
})

describe('bad input', () => {
  const fails = async (task: string, body: object) => {
    const { status, body: record } = await submit(worker, task, body)
    if (status !== 202) return record.code
    return (await until(worker, record.links.self)).error?.code
  }
  const training = (body: object) => fails('trainClassifier', { table: 'scene', classifier: 'bad', ...body })

  test('examples that cannot be learnt from are refused by their reason', async () => {
    const { forest, water } = clicks()
    expect(await training({})).toBe('EXAMPLES_NEEDED')
    expect(await training({ ids: { forest } })).toBe('CLASSES_NEEDED')
    expect(await training({ ids: { forest: [1e9], water: [2e9] } })).toBe('CLASSES_NEEDED')
    expect(await training({ ids: { forest, water }, classes: ['forest', 'sand'] })).toBe('CLASS_UNKNOWN')
    expect(await training({ table: 'none', ids: { forest, water } })).toBe('EMBEDDING_TABLE_NOT_FOUND')
    expect(await training({ examples: { table: 'fields', column: 'crop' } })).toBe('COLUMN_MISSING')
    expect(await training({ examples: { table: 'none', column: 'crop' } })).toBe('TABLE_NOT_FOUND')
    expect(await training({ examples: { table: 'jobs', schema: 'terrane', column: 'id' } })).toBe('SCHEMA_NOT_ALLOWED')
    const broken = { type: 'Feature', properties: { class: 'a' }, geometry: { type: 'Point', coordinates: ['x'] } }
    expect(await training({ features: { type: 'FeatureCollection', features: [broken] } })).toBe('FEATURES_INVALID')
    expect(await training({ ids: { forest, water }, sourceNumbers: [7] })).toBe('SOURCES_UNKNOWN')
    expect(await training({ ids: { forest, water }, since: '2024-13-01' })).toBe('SOURCES_UNKNOWN')
  })

  test('vectors of another model, or seen otherwise, are refused', async () => {
    const classifier = newName()
    await train({ classifier, ids: clicks() })
    await makeTable({ name: 'other_model', rows: gridRows(3), entry: { modelName: 'n' } })
    await makeTable({ name: 'other_bands', rows: gridRows(3), entry: { bands: [2, 1, 0] } })
    const map = (table: string) => fails('classifyEmbeddings', { table, classifier, tableName: newName() })
    expect(await map('other_model')).toBe('CLASSIFIER_NOT_COMPARABLE')
    expect(await map('other_bands')).toBe('CLASSIFIER_NOT_COMPARABLE')
    await makeTable({ name: 'later', rows: gridRows(3) })
    expect(await map('later')).toBeUndefined()
    const unknown = { table: 'scene', classifier, tableName: newName() }
    expect(await fails('classifyEmbeddings', { ...unknown, version: 9 })).toBe('CLASSIFIER_NOT_FOUND')
    expect(await fails('classifyEmbeddings', { ...unknown, classifier: 'none' })).toBe('CLASSIFIER_NOT_FOUND')
    expect(await fails('classifyEmbeddings', { ...unknown, tableName: 'fields' })).toBe('TABLE_EXISTS')
    expect(await fails('classifyEmbeddings', { ...unknown, mode: 'update' })).toBe('NOT_A_CLASS_TABLE')
    expect(await fails('classifyEmbeddings', { ...unknown, tableName: 'fields', mode: 'update' })).toBe('NOT_A_CLASS_TABLE') // prettier-ignore
  })

  test('examples of one place are learnt from, and the result says that nothing is known of its quality', async () => {
    const ids = { field: [gridId(3, 0), gridId(3, 1)], forest: [gridId(4, 0), gridId(4, 1)] }
    const learnt = await train({ classifier: newName(), ids })
    expect(learnt).toMatchObject({ validation: null, classes: [{ f1: null }, { f1: null }] })
    expect(codes(learnt)).toEqual(['NOT_VALIDATED'])
  })

  test('a row whose vector is zero has no class, and is counted', async () => {
    const [classifier, tableName] = [newName(), newName()]
    await train({ classifier, ids: clicks() })
    const zero = { column: 0, row: 0, embedding: new Float32Array(DIMS) }
    await makeTable({ name: 'zeros', rows: [zero, rowOf(1, 1)] })
    const map = await classify({ table: 'zeros', classifier, tableName })
    expect(map.warnings).toMatchObject([{ code: 'VECTORS_ZERO', count: 1 }])
    expect(await query(`select class is null as none from public.${tableName} order by id`)).toEqual([{ none: true }, { none: false }]) // prettier-ignore
  })
})

describe('new sources', () => {
  test('an update classifies rows of sources that are new or changed, and takes out rows of sources that are gone', async () => {
    const [classifier, tableName] = [newName(), newName()]
    const rows = [0, 1, 2].flatMap((source) => gridRows(4, source))
    await makeTable({ name: 'series', rows })
    await train({ classifier, ids: clicks() })
    const update = { table: 'series', classifier, tableName, mode: 'update' }
    expect(await classify({ ...update, mode: 'create' })).toMatchObject({ rows: 48, classified: 48 })
    expect(await classify(update)).toMatchObject({ rows: 48, classified: 0, removed: 0 })
    await query(`update geoembeddings.embedding_sources set updated_at = clock_timestamp() where table_name = 'series' and source = 1`) // prettier-ignore
    await query(`select geoembeddings.remove_source('series', 2)`)
    expect(await classify(update)).toMatchObject({ rows: 32, classified: 16, removed: 32 })
    expect(await query(`select count(*)::int as n from public.${tableName}`)).toEqual([{ n: 32 }])
    await train({ classifier, ids: clicks(5) })
    expect(await classify(update)).toMatchObject({ version: 2, rows: 32, classified: 32, removed: 32 })
    const { body } = await submit(worker, 'classifyEmbeddings', { ...update, table: 'scene' })
    expect((await until(worker, body.links.self)).error?.code).toBe('NOT_A_CLASS_TABLE')
  })

  test('only rows of the chosen dates are learnt from and shown', async () => {
    const classifier = newName()
    const rows = [0, 1].flatMap((source) => gridRows(8, source))
    await makeTable({ name: 'dates', rows })
    const ids = { field: [gridId(0, 0), gridId(0, 0, 1)], forest: [gridId(4, 0), gridId(4, 0, 1)] }
    const learnt = await train({ table: 'dates', classifier, ids, since: '2024-02-01' })
    expect([learnt.examples, codes(learnt)]).toEqual([2, ['EXAMPLES_OFF_TABLE', 'CLASSES_WITH_ONE_EXAMPLE', 'NOT_VALIDATED']]) // prettier-ignore
    expect(await classify({ table: 'dates', classifier, tableName: newName(), sourceNumbers: [1] })).toMatchObject({
      rows: 64,
    })
  })

  test('rows without a time are counted where a time is asked for', async () => {
    const [classifier, tableName] = [newName(), newName()]
    await makeTable({ name: 'undated', rows: [0, 1].flatMap((source) => gridRows(8, source)) })
    await query(
      `update geoembeddings.embedding_sources set datetime = null, rows = 64 where table_name = 'undated' and source = 0`,
    )
    await train({ classifier, ids: clicks() })
    const counted = expect.objectContaining({ code: 'ROWS_WITHOUT_TIME', count: 64 }) as object
    const chosen = { table: 'undated', classifier, since: '2020-01-01' }
    expect((await classify({ ...chosen, tableName })).warnings).toContainEqual(counted)
    const ids = { field: [gridId(0, 0, 1)], forest: [gridId(4, 0, 1)] }
    expect((await train({ ...chosen, classifier: newName(), ids })).warnings).toContainEqual(counted)
    const clustered = await succeed('clusterEmbeddings', {
      table: 'undated',
      since: '2020-01-01',
      clusters: 2,
      tableName: newName(),
    })
    expect(clustered).toMatchObject({ rows: 64, warnings: expect.arrayContaining([counted]) as object })
    const refused = await runTask('classifyEmbeddings', { ...chosen, tableName: newName(), strict: true })
    expect(refused.error).toMatchObject({ code: 'WARNINGS_REFUSED' })
    expect((await classify({ table: 'undated', classifier, tableName: newName() })).warnings).not.toContainEqual(
      counted,
    )
  })
})

describe('readers', () => {
  test('a map and a classifier are read as the table that they were made of', async () => {
    await makeTable({ name: 'mine', rows: gridRows(SIDE), entry: { owner: OWNER } })
    for (const [table, anon, stranger, owner] of [
      ['scene', 400, 400, 400],
      ['mine', '42501', 0, 400],
    ] as const) {
      const [classifier, tableName] = [newName(), newName()]
      await train({ table, classifier, ids: clicks() })
      await classify({ table, classifier, tableName })
      const stranger2 = '22222222-2222-4222-8222-222222222222'
      const found = [
        await readAs('anon', `public.${tableName}`),
        await readAs('authenticated', `public.${tableName}`, stranger2),
        await readAs('authenticated', `public.${tableName}`, OWNER),
      ]
      expect(found).toEqual([anon, stranger, owner])
      const isOpen = table === 'scene'
      const one = `geoembeddings.classifiers where name = '${classifier}'`
      expect([await readAs('anon', one), await readAs('authenticated', one, OWNER)]).toEqual([isOpen ? 1 : 0, 1])
      expect(await readAs('authenticated', 'geoembeddings.classifier_weights', OWNER)).toBe('42501')
    }
  })

  test('a name that belongs to a user is not taken over', async () => {
    const classifier = newName()
    await train({ classifier, ids: clicks(), ownerUuid: OWNER })
    const { body } = await submit(worker, 'trainClassifier', { table: 'scene', classifier, ids: clicks() })
    expect(body).toMatchObject({ code: 'CLASSIFIER_EXISTS', errors: [{ path: '/classifier' }] })
  })

  test('a taken name of a table of classes is refused with its field and the remedy', async () => {
    const classifier = newName()
    await train({ classifier, ids: clicks() })
    const requests = { classifyEmbeddings: { classifier }, clusterEmbeddings: { clusters: 2 } }
    for (const [task, request] of Object.entries(requests)) {
      const { body } = await submit(worker, task, { table: 'scene', tableName: 'fields', ...request })
      expect(body).toMatchObject({
        code: 'TABLE_EXISTS',
        message: 'Table public.fields exists already',
        hint: expect.stringMatching(/^Choose another name, .*mode replace/),
        errors: [{ path: '/tableName' }],
      })
    }
  })
})

describe('clusters', () => {
  test('rows that look alike are one cluster, the same for a seed, and the centres classify other tables', async () => {
    const [one, two, later] = [newName(), newName(), newName()]
    const ask = (tableName: string) => succeed('clusterEmbeddings', { table: 'scene', clusters: 3, tableName, seed: 4 })
    const first = await ask(one)
    expect(first).toMatchObject({ rows: 400, classified: 400, classifier: one, version: 1, warnings: [] })
    await ask(two)
    const [pairs] = await query(
      `select count(*) filter (where a.class <> b.class) as differ, count(distinct (a.class, (a.id % 1000) / 4 % 3)) as mixes, count(a.probability) as probabilities
       from public.${one} a join public.${two} b using (id)`,
    )
    expect(pairs).toEqual({ differ: 0, mixes: 3, probabilities: 0 })
    await makeTable({ name: 'more', rows: gridRows(6) })
    expect(await classify({ table: 'more', classifier: one, tableName: later })).toMatchObject({ rows: 36 })
    const refused = await runTask('clusterEmbeddings', { table: 'more', clusters: 50, tableName: newName() })
    expect(refused.error?.code).toBe('TOO_FEW_ROWS')
  })

  test('a map is made anew in its place, with the readers that it had', async () => {
    const [tableName, classifier] = [newName(), newName()]
    await succeed('clusterEmbeddings', { table: 'scene', clusters: 2, tableName, isPublic: false })
    expect(await readAs('anon', `public.${tableName}`)).toBe('42501')
    await train({ classifier, ids: clicks() })
    await classify({ classifier, tableName, mode: 'replace' })
    expect(await readAs('anon', `public.${tableName}`)).toBe('42501')
    await query(`select geoembeddings.share_table('public', '${tableName}', 'anon')`)
    expect(await readAs('anon', `public.${tableName}`)).toBe(400)
  })
})
