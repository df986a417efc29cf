import type { TrainClassifier } from '@terrane/contracts/labels'
import type { Warnings } from '@terrane/core/errors'
import { qualified, type Database } from '@terrane/database'
import { EMBEDDINGS_SCHEMA } from '@terrane/database/geoembeddings'
import { tooManyExamples } from './errors.ts'
import type { Source } from './example-sources.ts'
import { MAX_CLASS_NAME, WITHOUT_CLASS } from './class-names.ts'

/** Maximum examples of a table. */
const MAX_ROWS = 200_000
/** Maximum pairs of an example and an intersecting row. */
const MAX_MET = 200_000
/** Points per piece of a cut polygon, so that the cost of a row does not grow with the size of a polygon. */
const PIECE_POINTS = 128
/** Timeout on a PostgreSQL server; on the embedded database the other limits bound the time. */
const TIMEOUT_MS = 600_000

/** The examples of a request while they are found: a condition on rows `t`, and the class by id. */
export interface Work {
  readonly body: TrainClassifier
  readonly where: string
  readonly classOf: Map<number, string>
  readonly leftOut: Warnings
}

interface Summary {
  readonly rows: number
  readonly pairs: number
  readonly nameless: number
  readonly placeless: number
  readonly off: number
  readonly classes: readonly string[]
}

/** Share of a row that belongs to a class: the covered part of its area, 0 to 1, and the points and lines on it. */
interface Share {
  area: number
  marks: number
}

/** Gives rows the class of examples that covers most of them. @throws TOO_MANY_EXAMPLES, the errors of the sources */
export async function addMet(database: Database, sources: readonly Source[], work: Work): Promise<void> {
  const { body, where, classOf, leftOut } = work
  const wanted = body.minOverlap ?? 0
  const shares = new Map<number, Map<string, Share>>()
  for (const source of sources) {
    const { rows, summary } = await meet(database, source, { table: body.table, where })
    for (const { id, c, area, marks } of rows) {
      const byClass = shares.get(id) ?? new Map<string, Share>()
      const there = byClass.get(c) ?? { area: 0, marks: 0 }
      byClass.set(c, { area: Math.max(there.area, area), marks: there.marks + marks })
      shares.set(id, byClass)
    }
    leftOut.addUp('EXAMPLES_WITHOUT_CLASS', WITHOUT_CLASS, summary.nameless)
    leftOut.addUp('EXAMPLES_WITHOUT_PLACE', 'Examples without a geometry were left out.', summary.placeless)
    leftOut.addUp('EXAMPLES_OFF_TABLE', 'Examples that meet no row of the embeddings table were left out.', summary.off, summary.classes) // prettier-ignore
  }
  let [equal, small] = [0, 0]
  for (const [id, byClass] of shares) {
    const [first, second] = [...byClass].map(([c, { area, marks }]) => ({ c, share: area + marks })).toSorted((a, b) => b.share - a.share) // prettier-ignore
    if (second && first!.share - second.share < 1e-9) equal++
    else if (first!.share < wanted) small++
    else classOf.set(id, first!.c)
  }
  leftOut.addUp('EXAMPLES_CONFLICT', 'Rows that several classes cover alike were left out.', equal)
  leftOut.addUp('EXAMPLES_SMALL', 'Rows that examples cover by less than minOverlap were left out.', small)
}

type Met = Share & { readonly id: number; readonly c: string }

async function meet(
  database: Database,
  { sql, values, toError }: Source,
  on: { readonly table: string; readonly where: string },
): Promise<{ readonly rows: readonly Met[]; readonly summary: Summary }> {
  try {
    const begin = `begin read only; set local statement_timeout = ${TIMEOUT_MS}`
    const { rows } = await database.transaction((session) => session.query<Met & { summary: Summary | null }>(meetingSql(sql, on), values), begin) // prettier-ignore
    const { summary } = rows.find(({ summary: found }) => found !== null)! as { summary: Summary }
    if (summary.rows > MAX_ROWS) throw tooManyExamples({ why: `are more than ${MAX_ROWS} rows of their table` })
    if (summary.pairs > MAX_MET) throw tooManyExamples({ why: `overlap rows more than ${MAX_MET} times` })
    return { rows: rows.filter(({ summary: found }) => found === null), summary }
  } catch (cause) {
    const { code, message } = cause as { code?: unknown; message: string }
    if (code === '57014') throw tooManyExamples({ why: `took more than ${TIMEOUT_MS / 60_000} minutes to match with the rows` }, { cause }) // prettier-ignore
    // Errors about data, functions or features, and about tables that changed since the request was checked.
    if (typeof code === 'string' && /^(22|XX|0A)...$|^(42703|42P01)$/.test(code)) throw toError(message, cause)
    throw cause
  }
}

/** All steps are in one statement, each evaluated once. Overlapping polygons of a class count as their union. */
function meetingSql(examples: string, { table, where }: { readonly table: string; readonly where: string }): string {
  const tile = qualified(EMBEDDINGS_SCHEMA, table)
  const isNamed = `coalesce(c <> '' and length(c) <= ${MAX_CLASS_NAME} and c !~ '[\\x01-\\x1f\\x7f]', false)`
  return `with written as materialized (select e.c, e.g from (${examples}) e limit ${MAX_ROWS + 1}),
    named as materialized (
      select row_number() over () as n, btrim(c) as c, st_dimension(g) as dim, case when st_dimension(g) = 2 then st_makevalid(g) else g end as g
      from written where (select count(*) from written) <= ${MAX_ROWS}),
    pieces as materialized (
      select e.n, e.c, e.dim, p.g from named e cross join lateral st_subdivide(e.g, ${PIECE_POINTS}) p(g)
      where ${isNamed} and st_dimension(p.g) = e.dim),
    pairs as materialized (
      select e.n, e.c, e.dim, t.id, case when e.dim < 2 or st_covers(e.g, t.geom) then null else st_intersection(t.geom, e.g) end as part
      from pieces e join ${tile} t on st_intersects(t.geom, e.g) where true ${where} limit ${MAX_MET + 1}),
    met as materialized (select * from pairs where part is null or st_dimension(part) = 2),
    shares as (
      select m.id, m.c, count(distinct m.n) filter (where m.dim < 2) as marks,
        coalesce(case when bool_or(m.part is null) filter (where m.dim = 2) then 1
          when count(m.part) = 1 then max(st_area(m.part)) / nullif(min(st_area(t.geom)), 0)
          else least(1, st_area(st_union(m.part)) / nullif(min(st_area(t.geom)), 0)) end, 0) as area
      from met m join ${tile} t on t.id = m.id where (select count(*) from pairs) <= ${MAX_MET} group by m.id, m.c),
    off as (select c from named where ${isNamed} and g is not null and n not in (select n from met)),
    summary as (select json_build_object(
      'rows', (select count(*) from written), 'pairs', (select count(*) from pairs),
      'nameless', (select count(*) from named where not ${isNamed}),
      'placeless', (select count(*) from named where g is null and c <> ''),
      'off', (select count(*) from off), 'classes', array(select distinct c from off order by c limit 10)) as s)
    select id::float8 as id, c, area::float8 as area, marks::float8 as marks, null::json as summary from shares
    union all select null, null, null, null, s from summary`
}
