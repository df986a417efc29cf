import { tableLabel } from './tables.ts'
import { taskLabel } from './tasks.ts'

/** A table as lists show it: `schema.table`, and the job that made it. */
export interface TableName {
  readonly name: string
}
export interface Origin {
  readonly table_schema: string
  readonly table_name: string
  readonly job_id: string | null
  readonly task: string | null
}

export interface TableGroup<T extends TableName> {
  readonly key: string
  /** Null for the tables of no group. */
  readonly label: string | null
  readonly tables: readonly T[]
}

/**
 * Tables that one job made together, by the beginning of their names; all others first, without a label.
 *
 * @param origins what is known of them; tables that are missing here are in no group
 */
export function groupTables<T extends TableName>(tables: readonly T[], origins: readonly Origin[]): TableGroup<T>[] {
  const madeBy = new Map<string, { readonly job: string; readonly task: string | null }>(
    origins.flatMap(({ table_schema: schema, table_name: name, job_id: job, task }) =>
      job === null ? [] : [[`${schema}.${name}`, { job, task }] as const],
    ),
  )
  const byJob = Map.groupBy(tables, ({ name }) => madeBy.get(name)?.job ?? '')
  const groups = [...byJob].filter(([job, made]) => job !== '' && made.length > 1)
  const grouped = new Set(groups.flatMap(([, made]) => made))
  const others = tables.filter((table) => !grouped.has(table))
  return [
    ...(others.length > 0 ? [{ key: '', label: null, tables: others }] : []),
    ...groups.map(([key, made]) => {
      const task = madeBy.get(made[0]?.name ?? '')?.task ?? null
      const start = commonStart(made.map(({ name }) => tableLabel(name)))
      return { key, label: [start, task && taskLabel(task)].filter(Boolean).join(', '), tables: made }
    }),
  ]
}

/** Tables whose name holds each word of a search. */
export function findTables<T extends TableName>(tables: readonly T[], search: string): readonly T[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return tables.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
}

/** `porto` for `porto_streets` and `porto_pois`. */
function commonStart(names: readonly string[]): string {
  const [first = '', ...others] = names
  let length = first.length
  for (const name of others) while (!name.startsWith(first.slice(0, length))) length--
  return first.slice(0, length).replace(/(_[^_]*|_)$/, '')
}
