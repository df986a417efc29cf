import type { JobWarning } from '@terrane/contracts'
import type { TrainClassifier } from '@terrane/contracts/labels'
import { Warnings } from '@terrane/core/errors'
import { qualified, type Database } from '@terrane/database'
import { EMBEDDINGS_SCHEMA } from '@terrane/database/geoembeddings'
import { classUnknown, tooManyExamples } from './errors.ts'
import { addMet, type Work } from './examples-on-rows.ts'
import { featureSource, tableSource, type Source } from './example-sources.ts'
import { WITHOUT_CLASS } from './class-names.ts'

/** Ids of a request. */
const MAX_IDS = 500_000

/** Rows of the embeddings table that are examples of a class. */
export interface Examples {
  /** Class by id. */
  readonly classOf: ReadonlyMap<number, string>
  readonly warnings: readonly JobWarning[]
}

/**
 * The rows that intersect the examples of a request, with the class of each. A row takes the class that covers most of
 * it; points and lines count one each. Unused examples are counted.
 *
 * @param where condition on a row `t` of the embeddings table
 * @throws COLUMN_MISSING, NO_GEOMETRY_COLUMN, TABLE_NOT_FOUND, FEATURES_INVALID, EXAMPLES_INVALID, TOO_MANY_EXAMPLES, CLASS_UNKNOWN
 */
export async function findExamples(database: Database, body: TrainClassifier, where: string): Promise<Examples> {
  const leftOut = new Warnings()
  const sources: Source[] = []
  if (body.examples) sources.push(await tableSource(database, body.examples))
  if (body.features) sources.push(featureSource(body.features.features, body.property ?? 'class', leftOut))
  const classOf = new Map<number, string>()
  if (sources.length > 0) await addMet(database, sources, { body, where, classOf, leftOut })
  await addIds(database, { body, where, classOf, leftOut })
  keepClasses(body.classes, classOf, leftOut)
  return { classOf, warnings: leftOut.list() }
}

async function addIds(database: Database, { body, where, classOf, leftOut }: Work): Promise<void> {
  const { ids = {}, table } = body
  const clicked = new Map<number, string>()
  const disputed = new Set<number>()
  for (const [written, list] of Object.entries(ids)) {
    const name = trimmed(written)
    if (name === '') leftOut.addUp('EXAMPLES_WITHOUT_CLASS', WITHOUT_CLASS, list.length)
    for (const id of name === '' ? [] : list) {
      if (clicked.has(id) && clicked.get(id) !== name) disputed.add(id)
      clicked.set(id, name)
    }
  }
  if (clicked.size === 0) return
  if (clicked.size > MAX_IDS) throw tooManyExamples({ why: `name more than ${MAX_IDS} rows` })
  const { rows } = await database.query<{ id: number }>(
    `select t.id::float8 as id from ${qualified(EMBEDDINGS_SCHEMA, table)} t where t.id = any($1::bigint[]) ${where}`,
    [[...clicked.keys()]],
  )
  const there = new Set(rows.map(({ id }) => id))
  const missing = [...clicked.keys()].filter((id) => !there.has(id))
  leftOut.addUp('EXAMPLES_OFF_TABLE', 'Examples that meet no row of the embeddings table were left out.', missing.length, missing) // prettier-ignore
  leftOut.addUp('EXAMPLES_CONFLICT', 'Rows that several classes cover alike were left out.', disputed.size, [
    ...disputed,
  ])
  for (const [id, name] of clicked) {
    if (!there.has(id)) continue
    if (disputed.has(id)) classOf.delete(id)
    else classOf.set(id, name)
  }
}

function keepClasses(written: readonly string[] | undefined, classOf: Map<number, string>, leftOut: Warnings): void {
  if (!written) return
  const wanted = written.map(trimmed)
  const known = new Set(classOf.values())
  const names = wanted.filter((name) => !known.has(name))
  if (names.length > 0) throw classUnknown({ names, known: [...known].toSorted() })
  const before = classOf.size
  for (const [id, name] of classOf) if (!wanted.includes(name)) classOf.delete(id)
  const others = [...known].filter((name) => !wanted.includes(name))
  leftOut.addUp('CLASSES_LEFT_OUT', 'Rows of classes that the request does not name were left out.', before - classOf.size, others) // prettier-ignore
}

/** A class name without surrounding spaces; values of a column are trimmed in the same way. */
function trimmed(name: string): string {
  let [start, end] = [0, name.length]
  while (name[start] === ' ') start++
  while (end > start && name[end - 1] === ' ') end--
  return name.slice(start, end)
}
