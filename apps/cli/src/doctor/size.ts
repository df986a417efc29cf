import type { Database } from '@terrane/database'
import { fine, wrong, type Finding } from './finding.ts'

/** Sizes and ages of a database, as its server reports them. */
export interface Sizes {
  readonly bytes: number
  readonly log: number
  readonly secondsSinceCheckpoint: number
  /** Transactions since the oldest row that is not frozen. */
  readonly age: number
  /** The table with the most dead rows; null when there is no table. */
  readonly table: string | null
  readonly live: number | null
  readonly dead: number | null
  /** Null when the table was never vacuumed, or the statistics were reset. */
  readonly secondsSinceVacuum: number | null
}

/** Number of dead rows that is acceptable for a table of any size. */
const FEW_ROWS = 100_000
/** PostgreSQL freezes at 200 million by itself, and stops taking writes at 2 billion. */
const MOST_AGE = 1_000_000_000
/** Twice the `max_wal_size` of a server. */
const MOST_LOG = 2 * 2 ** 30

const SIZES = `select pg_database_size(current_database())::float8 as bytes,
    (select coalesce(sum(size), 0)::float8 from pg_ls_waldir()) as log,
    extract(epoch from now() - (select checkpoint_time from pg_control_checkpoint()))::float8 as "secondsSinceCheckpoint",
    (select age(datfrozenxid) from pg_database where datname = current_database()) as age,
    t.name as table, t.live::float8 as live, t.dead::float8 as dead, t.seconds::float8 as "secondsSinceVacuum"
  from (select 1) one left join (
    select format('%I.%I', schemaname, relname) as name, n_live_tup as live, n_dead_tup as dead,
      extract(epoch from now() - greatest(last_vacuum, last_autovacuum)) as seconds
    from pg_stat_user_tables order by n_dead_tup desc, relname limit 1) t on true`

/** Checks the size of the database and its log, and the time since the last checkpoint and vacuum. */
export async function sizeFindings(connection: Database): Promise<Finding[]> {
  try {
    const { rows } = await connection.query<{ [key in keyof Sizes]: Sizes[key] }>(SIZES)
    return judgeSizes(rows[0]!)
  } catch (error) {
    return [
      { check: 'size', state: 'unknown', message: `the server does not report its size: ${(error as Error).message}` },
    ]
  }
}

/** Takes the sizes as an argument and is exported for tests, which have no large database. */
export function judgeSizes(sizes: Sizes): Finding[] {
  const { bytes, log, age, table } = sizes
  const said = `${mb(bytes)}, log ${mb(log)}, last checkpoint ${ago(sizes.secondsSinceCheckpoint)}, oldest row ${age} transactions old`
  const findings = [
    log > MOST_LOG || age > MOST_AGE
      ? wrong(
          'size',
          said,
          'Vacuum it, and check what prevents a checkpoint: an archive command or a replication slot.',
        )
      : fine('size', said),
  ]
  if (table === null) return findings
  const [live, dead] = [sizes.live ?? 0, sizes.dead ?? 0]
  const vacuumed = sizes.secondsSinceVacuum === null ? 'not vacuumed yet' : `vacuumed ${ago(sizes.secondsSinceVacuum)}`
  const worst = `${table} has the most dead rows, ${dead} dead and ${live} live, ${vacuumed}`
  findings.push(
    dead > FEW_ROWS + live
      ? wrong('vacuum', worst, `End transactions that are open for long, then: vacuum (analyze) ${table}`)
      : fine('vacuum', worst),
  )
  return findings
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`
}

function ago(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s ago`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`
  return `${Math.round(seconds / 3600)} h ago`
}
