import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Database, Session } from './database.ts'
import { schemaBehind, schemaTooNew } from './errors.ts'

/** `control`: jobs, projects and keys of the worker. `project`: what a project's database needs to receive results. */
export type MigrationSet = 'control' | 'project'

interface Migration {
  readonly id: string
  readonly sql: string
  readonly sha256: string
}

const FOLDER = new URL('../migrations/', import.meta.url)
/** Any constant; advisory locks of the same number exclude each other. */
const LOCK = 7_203_384_511

/**
 * Brings a database up to this version: applies the missing files of the sets in order, each in its own transaction,
 * one process at a time. Returns the ids that were applied. A schema of a later version is refused before anything is applied.
 *
 * @throws SCHEMA_TOO_NEW
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
  await refuseNewerSchema(database, sets)
  for (const set of sets) {
    for (const migration of await readMigrations(set)) {
      if (await apply(database, migration)) applied.push(migration.id)
    }
  }
  return applied
}

/**
 * Refuses a database with migrations of the sets that this version does not know. One without migrations passes.
 *
 * @throws SCHEMA_TOO_NEW
 */
export async function refuseNewerSchema(database: Database, sets: readonly MigrationSet[]): Promise<void> {
  const { rows } = await database.query<{ there: boolean }>(
    `select to_regclass('terrane.migrations') is not null as there`,
  )
  if (!rows[0]?.there) return
  const { rows: applied } = await database.query<{ id: string }>('select id from terrane.migrations order by id')
  const ids = applied.map(({ id }) => id).filter((id) => sets.some((set) => id.startsWith(`${set}/`)))
  await refuseUnknownMigrations(ids)
}

/** Refuses ids of migrations of which this version does not know one. @throws SCHEMA_TOO_NEW */
export async function refuseUnknownMigrations(ids: readonly string[]): Promise<void> {
  const known = new Set([...(await idsOf('control')), ...(await idsOf('project'))])
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) throw schemaTooNew({ unknown })
}

async function apply(database: Database, migration: Migration): Promise<boolean> {
  try {
    return await database.transaction(async (session) => {
      await lock(database, session)
      const { rows } = await session.query<{ sha256: string }>('select sha256 from terrane.migrations where id = $1', [
        migration.id,
      ])
      const before = rows[0]?.sha256
      if (before === migration.sha256) return false
      if (before !== undefined)
        throw schemaBehind({ reason: `migration ${migration.id} was changed after it was applied` })
      await session.query(migration.sql)
      await session.query('insert into terrane.migrations (id, sha256) values ($1, $2)', [
        migration.id,
        migration.sha256,
      ])
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

async function lock(database: Database, session: Session): Promise<void> {
  if (database.capabilities.locks) await session.query('select pg_advisory_xact_lock($1)', [LOCK])
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
