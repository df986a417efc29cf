import type { JobWarning } from '@terrane/contracts'
import { qualified, type Database } from '@terrane/database'
import type { VectorTable } from '@terrane/database/classifiers'
import { vectorsWithIds, type VectorPage } from '@terrane/database/vector-pages'
import { EMBEDDINGS_SCHEMA } from '@terrane/database/geoembeddings'
import type { ExamplePlaces, LabelledVectors } from '@terrane/embeddings/heads'
import { classesNeeded, tooManyClasses } from './errors.ts'
import type { Examples } from './examples.ts'
import { prepare } from './run-input.ts'

/** Numbers of all examples, and of all weights. */
const MAX_NUMBERS = 2 ** 25
const MAX_WEIGHTS = 2 ** 20
/** Maximum examples: more add little, and `knn` compares with each. */
const MAX_EXAMPLES = { logistic: 20_000, linear: 20_000, knn: 5000 }
/** Maximum products of each step of a fit: examples times weights. */
const MAX_PRODUCTS = 2 ** 30
const MAX_CLASSES = 256

/** Examples as heads read them, and their locations. */
export interface ExampleSet {
  readonly data: LabelledVectors
  readonly places: ExamplePlaces
  /** Diagonal of a row on the ground, in meters. */
  readonly reachMeters: number
  readonly names: readonly string[]
  readonly counts: readonly number[]
  readonly warnings: readonly JobWarning[]
}

/** Vectors and places of examples. @throws CLASSES_NEEDED, TOO_MANY_CLASSES */
export async function loadExamples(
  database: Database,
  table: VectorTable,
  { classOf, warnings }: Examples,
  head: keyof typeof MAX_EXAMPLES,
): Promise<ExampleSet> {
  const why = warnings.length > 0 ? `. ${warnings.map(({ message, count }) => `${message} (${count})`).join(' ')}` : ''
  checkClasses(new Set(classOf.values()), table.dims, why)
  const ids = sample(classOf, mostExamples(head, table.dims, new Set(classOf.values()).size))
  const page = await vectorsWithIds(database, table, ids)
  const zeros = prepare(page.vectors, table)
  const kept = page.ids.map((_, i) => i).filter((i) => !zeros.has(i))
  const names = [...new Set(kept.map((i) => classOf.get(page.ids[i]!)!))].toSorted()
  checkClasses(new Set(names), table.dims, why)
  const data = labelled(page, kept, { dims: table.dims, names, classOf })
  const counts = names.map((_, c) => data.labels.reduce((sum, label) => sum + (label === c ? 1 : 0), 0))
  const ground = await placesOf(database, table.tableName, kept.map((i) => page.ids[i]!)) // prettier-ignore
  const single = names.filter((_, c) => counts[c] === 1)
  const further: JobWarning[] = [
    { code: 'EXAMPLES_SAMPLED', message: 'There are more examples than training uses; it uses an even part of each class.', count: classOf.size - ids.length }, // prettier-ignore
    { code: 'VECTORS_ZERO', message: 'Examples whose vectors are zero were left out.', count: zeros.size },
    ...alikeNames(names),
    { code: 'CLASSES_WITH_ONE_EXAMPLE', message: 'Classes with one example are trained on it and cannot be validated.', count: single.length, examples: single.slice(0, 10) }, // prettier-ignore
  ].filter(({ count }) => count > 0)
  return { data, ...ground, names, counts, warnings: [...warnings, ...further] }
}

/** A name for comparisons, without differences of case, Unicode composition and kinds of spaces. */
function plain(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim()
}

/** Warning about names that differ only in case, spaces or Unicode composition, because each is a class of its own. */
function alikeNames(names: readonly string[]) {
  const alike = [...Map.groupBy(names, plain).values()].filter(({ length }) => length > 1)
  const examples = alike.map((group) => group.join(' / ')).slice(0, 10)
  const message =
    'Names of classes differ only in case, spaces or the composition of letters. Each is a separate class.'
  return [{ code: 'CLASSES_ALIKE', message, count: alike.length, examples }]
}

function mostExamples(head: keyof typeof MAX_EXAMPLES, dims: number, classes: number): number {
  const products = head === 'knn' ? Infinity : MAX_PRODUCTS / (classes * dims)
  return Math.floor(Math.min(MAX_EXAMPLES[head], MAX_NUMBERS / dims, products))
}

function checkClasses(classes: ReadonlySet<string>, dims: number, why: string): void {
  if (classes.size < 2) throw classesNeeded({ classes: [...classes], why })
  const limit = Math.min(MAX_CLASSES, Math.floor(MAX_WEIGHTS / dims))
  if (classes.size > limit) throw tooManyClasses({ classes: classes.size, dims, limit })
}

/** The maximum number of ids, evenly sampled from the ids of each class. Equal examples give equal samples. */
function sample(classOf: ReadonlyMap<number, string>, most: number): number[] {
  const ids = [...classOf.keys()].toSorted((a, b) => a - b)
  if (ids.length <= most) return ids
  const byClass = Map.groupBy(ids, (id) => classOf.get(id)!)
  let [room, left] = [most, byClass.size]
  const chosen: number[] = []
  for (const [, members] of [...byClass].toSorted((a, b) => a[1].length - b[1].length)) {
    const count = Math.min(members.length, Math.floor(room / left--))
    for (let i = 0; i < count; i++) chosen.push(members[Math.floor((i * members.length) / count)]!)
    room -= count
  }
  return chosen
}

function labelled(
  { ids, vectors }: VectorPage,
  kept: readonly number[],
  { dims, names, classOf }: { dims: number; names: readonly string[]; classOf: ReadonlyMap<number, string> },
): LabelledVectors {
  const number = new Map(names.map((name, c) => [name, c]))
  const chosen = new Float32Array(kept.length * dims)
  kept.forEach((from, to) => chosen.set(vectors.subarray(from * dims, (from + 1) * dims), to * dims))
  const labels = Uint16Array.from(kept, (i) => number.get(classOf.get(ids[i]!)!)!)
  return { vectors: chosen, dims, labels, classes: names.length }
}

/** Locations of rows in the order of `ids`, and their size: the 90th percentile of the diagonals. */
async function placesOf(database: Database, tableName: string, ids: readonly number[]) {
  // A row at the antimeridian has a part on each side; its centre is between them.
  const { rows } = await database.query<{ id: number; lng: number; lat: number; diagonal: number }>(
    `select id, st_x(middle) as lng, st_y(middle) as lat,
       sqrt(power((st_xmax(g) - st_xmin(g)) * cosd(st_y(middle)), 2) + power(st_ymax(g) - st_ymin(g), 2)) * 111195 as diagonal
     from (select s.id, s.g, st_centroid(s.g) as middle
           from (select t.id::float8 as id, case when st_xmax(t.geom) - st_xmin(t.geom) > 180 then st_shiftlongitude(t.geom) else t.geom end as g
                 from ${qualified(EMBEDDINGS_SCHEMA, tableName)} t where t.id = any($1::bigint[])) s) p`,
    [ids],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  // A row that was deleted meanwhile is a block of its own.
  const places = ids.map((id) => byId.get(id) ?? { lng: Number.NaN, lat: Number.NaN, diagonal: 0 })
  const diagonals = places.map(({ diagonal }) => diagonal).toSorted((a, b) => a - b)
  return {
    places: { lng: Float64Array.from(places, ({ lng }) => lng), lat: Float64Array.from(places, ({ lat }) => lat) },
    reachMeters: Math.max(1, 1.05 * (diagonals[Math.floor(diagonals.length * 0.9)] ?? 1)),
  }
}
