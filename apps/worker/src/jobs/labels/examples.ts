import type { JobWarning } from '@terrane/contracts'
import type { TrainClassifier } from '@terrane/contracts/labels'
import { qualified, quoteIdentifier, type Database } from '@terrane/database'
import { EMBEDDINGS_SCHEMA } from '@terrane/database/geoembeddings'
import { chooseGeometry, readTable } from '@terrane/database/scan'
import { classUnknown, columnUnknown, featuresInvalid, geometryMissing, tooManyExamples } from './errors.ts'

/** Rows that examples may meet. */
const MAX_MET = 500_000
const MAX_CLASS_NAME = 100

/** Rows of the embeddings table that are examples of a class. */
export interface Examples {
  /** Class by id. */
  readonly classOf: ReadonlyMap<number, string>
  readonly warnings: readonly JobWarning[]
}

interface Source {
  /** SQL of a table `e` with `c`, the class, and `g`, the geometry in EPSG:4326. */
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Counts of what was left out, by code, with the first names. */
class LeftOut {
  readonly #counts = new Map<string, { message: string; count: number; examples: (string | number)[] }>()

  add(code: string, message: string, count: number, examples: readonly (string | number)[] = []): void {
    if (count === 0) return
    const there = this.#counts.get(code) ?? { message, count: 0, examples: [] }
    there.count += count
    there.examples = [...there.examples, ...examples].slice(0, 10)
    this.#counts.set(code, there)
  }

  get warnings(): JobWarning[] {
    return [...this.#counts].map(([code, { examples, ...rest }]) => ({
      code,
      ...rest,
      ...(examples.length > 0 && { examples }),
    }))
  }
}

/**
 * The rows that the examples of a request meet, and the class of each. A row takes the class that covers most of it; points and lines
 * count one each. What gives no example is counted.
 *
 * @param where condition on a row `t` of the embeddings table
 * @throws COLUMN_MISSING, NO_GEOMETRY_COLUMN, TABLE_NOT_FOUND, FEATURES_INVALID, TOO_MANY_EXAMPLES, CLASS_UNKNOWN
 */
export async function findExamples(database: Database, body: TrainClassifier, where: string): Promise<Examples> {
  const leftOut = new LeftOut()
  const sources: Source[] = []
  if (body.examples) sources.push(await tableSource(database, body.examples))
  if (body.features) sources.push(featureSource(body.features.features, body.property ?? 'class', leftOut))
  const classOf = new Map<number, string>()
  if (sources.length > 0) await addMet(database, sources, { body, where, classOf, leftOut })
  await addIds(database, { body, where, classOf, leftOut })
  keepClasses(body.classes, classOf, leftOut)
  return { classOf, warnings: leftOut.warnings }
}

/** The columns of the table with examples are there. */
export async function tableSource(
  database: Database,
  { schema = 'public', table, column }: NonNullable<TrainClassifier['examples']>,
): Promise<Source> {
  const { columns } = await readTable(database, schema, table)
  const geometry = chooseGeometry(columns)
  if (!geometry) throw geometryMissing({ table })
  if (!columns.some(({ name }) => name === column)) {
    throw columnUnknown({ table, column, columns: columns.map(({ name }) => name) })
  }
  const shape = `geoembeddings.as_4326(st_curvetoline(${quoteIdentifier(geometry.name)}::geometry), 4326)`
  return {
    sql: `select ${quoteIdentifier(column)}::text as c, ${shape} as g from ${qualified(schema, table)}`,
    values: [],
  }
}

function featureSource(features: readonly unknown[], property: string, leftOut: LeftOut): Source {
  const classes: (string | null)[] = []
  const geometries: string[] = []
  let without = 0
  features.forEach((feature, index) => {
    const { type, geometry, properties } = (feature ?? {}) as Record<string, unknown>
    if (type !== 'Feature') throw featuresInvalid({ why: 'is not a GeoJSON Feature', index })
    if (geometry === null || typeof geometry !== 'object') {
      without++
      return
    }
    const value = (properties as Record<string, unknown> | null | undefined)?.[property]
    const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    classes.push(isText ? String(value) : null)
    geometries.push(JSON.stringify(geometry))
  })
  leftOut.add('EXAMPLES_WITHOUT_PLACE', 'Examples without a geometry were left out.', without)
  return {
    sql: 'select f.c, st_setsrid(st_geomfromgeojson(f.g), 4326) as g from unnest($1::text[], $2::text[]) f(c, g)',
    values: [classes, geometries],
  }
}

interface Work {
  readonly body: TrainClassifier
  readonly where: string
  readonly classOf: Map<number, string>
  readonly leftOut: LeftOut
}

async function addMet(database: Database, sources: readonly Source[], work: Work): Promise<void> {
  const { body, where, classOf, leftOut } = work
  const wanted = body.minOverlap ?? 0
  const tile = qualified(EMBEDDINGS_SCHEMA, body.table)
  const shares = new Map<number, Map<string, number>>()
  for (const { sql, values } of sources) {
    const named = `named as materialized (
      select row_number() over () as n, trim(c) as c, case when st_dimension(g) = 2 then st_makevalid(g) else g end as g
      from (${sql}) e)`
    const met = `met as materialized (
      select e.n, e.c, t.id, case when st_dimension(e.g) = 2
        then st_area(st_intersection(t.geom, e.g)) / nullif(st_area(t.geom), 0) else 1 end as share
      from named e join ${tile} t on st_intersects(t.geom, e.g)
      where e.c <> '' and length(e.c) <= ${MAX_CLASS_NAME} ${where})`
    try {
      const { rows } = await database.query<{ id: number; c: string; share: number }>(
        `with ${named}, ${met} select id::float8 as id, c, sum(share) as share from met where share > 0 group by 1, 2 limit ${MAX_MET + 1}`,
        [...values],
      )
      if (rows.length > MAX_MET) throw tooManyExamples({ limit: MAX_MET })
      for (const { id, c, share } of rows) {
        const there = shares.get(id) ?? new Map<string, number>()
        shares.set(id, there.set(c, (there.get(c) ?? 0) + share))
      }
      await countLeftOut(database, `with ${named}, ${met}`, values, leftOut)
    } catch (cause) {
      const { code, message } = cause as { code?: unknown; message: string }
      if (values.length > 0 && typeof code === 'string' && /^(22|XX)...$/.test(code)) {
        throw featuresInvalid({ why: message, index: null }, { cause })
      }
      throw cause
    }
  }
  let [equal, small] = [0, 0]
  for (const [id, byClass] of shares) {
    const [first, second] = [...byClass].toSorted((a, b) => b[1] - a[1])
    if (second && first![1] - second[1] < 1e-9) equal++
    else if (first![1] < wanted) small++
    else classOf.set(id, first![0])
  }
  leftOut.add('EXAMPLES_CONFLICT', 'Rows that several classes cover alike were left out.', equal)
  leftOut.add('EXAMPLES_SMALL', 'Rows that examples cover by less than minOverlap were left out.', small)
}

async function countLeftOut(database: Database, tables: string, values: readonly unknown[], leftOut: LeftOut) {
  const { rows } = await database.query<{ nameless: number; placeless: number; off: number; classes: string[] }>(
    `${tables}, off as (select c from named e where c <> '' and length(c) <= ${MAX_CLASS_NAME} and g is not null
       and not exists (select from met m where m.n = e.n and m.share > 0))
     select (select count(*) from named where (c <> '' and length(c) <= ${MAX_CLASS_NAME}) is not true) as nameless,
       (select count(*) from named where g is null and c <> '') as placeless,
       (select count(*) from off) as off, array(select distinct c from off order by c limit 10) as classes`,
    [...values],
  )
  const { nameless = 0, placeless = 0, off = 0, classes = [] } = rows[0] ?? {}
  const long = `Examples without a class, or with one of more than ${MAX_CLASS_NAME} characters, were left out.`
  leftOut.add('EXAMPLES_WITHOUT_CLASS', long, nameless)
  leftOut.add('EXAMPLES_WITHOUT_PLACE', 'Examples without a geometry were left out.', placeless)
  leftOut.add('EXAMPLES_OFF_TABLE', 'Examples that meet no row of the embeddings table were left out.', off, classes)
}

async function addIds(database: Database, { body, where, classOf, leftOut }: Work): Promise<void> {
  const { ids = {}, table } = body
  const clicked = new Map<number, string>()
  const disputed = new Set<number>()
  for (const [name, list] of Object.entries(ids)) {
    for (const id of list) {
      if (clicked.has(id) && clicked.get(id) !== name) disputed.add(id)
      clicked.set(id, name)
    }
  }
  if (clicked.size === 0) return
  if (clicked.size > MAX_MET) throw tooManyExamples({ limit: MAX_MET })
  const { rows } = await database.query<{ id: number }>(
    `select t.id::float8 as id from ${qualified(EMBEDDINGS_SCHEMA, table)} t where t.id = any($1::bigint[]) ${where}`,
    [[...clicked.keys()]],
  )
  const there = new Set(rows.map(({ id }) => id))
  const missing = [...clicked.keys()].filter((id) => !there.has(id))
  leftOut.add('EXAMPLES_OFF_TABLE', 'Examples that meet no row of the embeddings table were left out.', missing.length, missing) // prettier-ignore
  leftOut.add('EXAMPLES_CONFLICT', 'Rows that several classes cover alike were left out.', disputed.size, [...disputed])
  for (const [id, name] of clicked) {
    if (!there.has(id)) continue
    if (disputed.has(id)) classOf.delete(id)
    else classOf.set(id, name)
  }
}

function keepClasses(wanted: readonly string[] | undefined, classOf: Map<number, string>, leftOut: LeftOut): void {
  if (!wanted) return
  const known = new Set(classOf.values())
  const names = wanted.filter((name) => !known.has(name))
  if (names.length > 0) throw classUnknown({ names, known: [...known].toSorted() })
  const before = classOf.size
  for (const [id, name] of classOf) if (!wanted.includes(name)) classOf.delete(id)
  const others = [...known].filter((name) => !wanted.includes(name))
  leftOut.add('CLASSES_LEFT_OUT', 'Rows of classes that the request does not name were left out.', before - classOf.size, others) // prettier-ignore
}
