import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Database, Session } from './database.ts'
import { schemaBehind, schemaTooNew, schemaTooOld } from './errors.ts'

/** `control`: jobs, projects and keys of the worker. `project`: what a project's database needs to receive results. */
export type MigrationSet = 'control' | 'project'

/** A migration that a database has recorded, or that {@link FORMER} lists. */
interface Recorded {
  readonly id: string
  readonly sha256: string
}

interface Migration extends Recorded {
  readonly sql: string
}

const FOLDER = new URL('../migrations/', import.meta.url)
/** Migrations of before the baseline (0001 to 0097) as `id sha256`; a database with all of a set has its schema. */
const FORMER = new URL('former.txt', FOLDER)
/** Any constant; advisory locks of the same number exclude each other. */
const LOCK = 7_203_384_511

/**
 * Brings a database up to this version: applies the missing files of the sets in order, each in its own transaction,
 * one process at a time. Returns the ids that were applied. In a database of before the baseline the baseline is recorded, not
 * applied. A schema that is later, or too early to be brought up to date, is refused before anything is applied.
 *
 * @throws SCHEMA_TOO_NEW, SCHEMA_TOO_OLD
 * @throws DATABASE_SCHEMA when a migration that was applied has changed since, or the server lacks PostGIS or pgvector
 */
export async function migrate(database: Database, sets: readonly MigrationSet[]): Promise<string[]> {
  const applied: string[] = []
  await database.transaction(async (session) => {
    await lock(database, session)
    await session.query('create schema if not exists terrane')
    await session.query(
      `create table if not exists terrane.migrations
       (id text primary key, sha256 text not null, applied_at timestamptz not null default now())`,
    )
  })
  const recorded = await recordedMigrations(database, sets)
  await refuseOtherVersion(recorded.map(({ id }) => id))
  const former = (await formerMigrations()).filter(({ id }) => recorded.some((one) => one.id === id))
  for (const { id, sha256 } of former) refuseChanged(id, sha256, recorded.find((one) => one.id === id)!.sha256)
  for (const set of sets) {
    const isRecognised = former.some(({ id }) => id.startsWith(`${set}/`))
    for (const migration of await readMigrations(set)) {
      const before = recorded.find(({ id }) => id === migration.id)
      if (before) {
        refuseChanged(migration.id, migration.sha256, before.sha256)
        continue
      }
      const sql = isRecognised && migration.id.startsWith(`${set}/01`) ? null : migration.sql
      if ((await record(database, migration, sql)) && sql !== null) applied.push(migration.id)
    }
  }
  return applied
}

/** Refuses a database whose migrations do not fit this version. @throws SCHEMA_TOO_NEW, SCHEMA_TOO_OLD */
export async function refuseOtherSchema(database: Database, sets: readonly MigrationSet[]): Promise<void> {
  const { rows } = await database.query<{ there: boolean }>(
    `select to_regclass('terrane.migrations') is not null as there`,
  )
  if (rows[0]?.there) await refuseOtherVersion((await recordedMigrations(database, sets)).map(({ id }) => id))
}

/** Refuses unknown migrations, and a part of those before the baseline. @throws SCHEMA_TOO_NEW, SCHEMA_TOO_OLD */
export async function refuseOtherVersion(ids: readonly string[]): Promise<void> {
  const former = (await formerMigrations()).map(({ id }) => id)
  const known = new Set([...former, ...(await idsOf('control')), ...(await idsOf('project'))])
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) throw schemaTooNew({ unknown })
  for (const set of ['control/', 'project/']) {
    const expected = former.filter((id) => id.startsWith(set))
    const missing = expected.filter((id) => !ids.includes(id))
    if (missing.length > 0 && missing.length < expected.length) throw schemaTooOld({ missing })
  }
}

async function recordedMigrations(database: Database, sets: readonly MigrationSet[]): Promise<Recorded[]> {
  const { rows } = await database.query<Recorded>('select id, sha256 from terrane.migrations order by id')
  return rows.filter(({ id }) => sets.some((set) => id.startsWith(`${set}/`)))
}

/** Runs a migration and records it; null statements only record it. False when it was recorded already. */
async function record(database: Database, { id, sha256 }: Recorded, sql: string | null): Promise<boolean> {
  try {
    return await database.transaction(async (session) => {
      await lock(database, session)
      const { rows } = await session.query<Recorded>('select id, sha256 from terrane.migrations where id = $1', [id])
      if (rows[0]) {
        refuseChanged(id, sha256, rows[0].sha256)
        return false
      }
      if (sql !== null) await session.query(sql)
      await session.query('insert into terrane.migrations (id, sha256) values ($1, $2)', [id, sha256])
      return true
    })
  } catch (cause) {
    const { code } = cause as { code?: string }
    // 0A000 feature_not_supported, 58P01 undefined_file: the extension is not installed on the server.
    if (code === '0A000' || code === '58P01') {
      throw schemaBehind(
        { reason: `the server has no ${(cause as Error).message}` },
        { cause, hint: 'Install PostGIS 3.4 and pgvector 0.8 or newer.' },
      )
    }
    throw cause
  }
}

function refuseChanged(id: string, sha256: string, before: string): void {
  if (before !== sha256) throw schemaBehind({ reason: `migration ${id} was changed after it was applied` })
}

async function lock(database: Database, session: Session): Promise<void> {
  if (database.capabilities.locks) await session.query('select pg_advisory_xact_lock($1)', [LOCK])
}

async function formerMigrations(): Promise<Recorded[]> {
  const lines = (await readFile(FORMER, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => ({ id: line.split(' ')[0]!, sha256: line.split(' ')[1]! }))
}

/** Ids of the migrations of a set, in order: their paths without `.sql`. */
async function idsOf(set: MigrationSet): Promise<string[]> {
  const names = await readdir(fileURLToPath(new URL(set, FOLDER)))
  return names
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => `${set}/${name.slice(0, -4)}`)
}

async function readMigrations(set: MigrationSet): Promise<Migration[]> {
  return Promise.all(
    (await idsOf(set)).map(async (id) => {
      const sql = await readFile(new URL(`${id}.sql`, FOLDER), 'utf8')
      return { id, sql, sha256: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
