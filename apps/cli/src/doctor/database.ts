import type { TerraneError } from '@terrane/core'
import { LentSession, openDatabase, refuseOtherSchema, type Database } from '@terrane/database'
import { databaseOf, findStack } from '../local-stack.ts'
import { fine, wrong, type Check, type CheckContext, type Finding } from './finding.ts'
import { sizeFindings } from './size.ts'

/** Maximum difference between the clocks of client and server; beyond it, tokens may count as expired. */
const MOST_CLOCK_DIFFERENCE_MS = 30_000
/** A client that has the one session of the embedded database for longer makes others wait noticeably. */
const LONG_HELD_SECONDS = 5
const EXTENSIONS = ['postgis', 'vector']

export const databaseChecks: readonly Check[] = [database]

/** Checks the database of DATABASE_URL, else the embedded one of the running stack. */
async function database({ env }: CheckContext): Promise<Finding[]> {
  const url = env['DATABASE_URL'] || (await findStack(env).then(databaseOf, () => null))
  if (!url) return []
  if (!/^postgres(?:ql)?:\/\//.test(url))
    return [
      wrong(
        'database',
        'DATABASE_URL is not an address of PostgreSQL',
        'Write it as postgres://user:password@host:5432/database.',
      ),
    ]
  try {
    // The connection below reports errors and supports other ways to sign in.
    const held = heldFinding(await heldOf(url).catch(() => undefined))
    // Anything else would wait too.
    if (held) return [held]
    await using connection = await openDatabase({ url, max: 1, applicationName: 'terrane doctor' })
    const { rows } = await connection.query<{ version: number; now: Date; names: string[]; readonly: boolean }>(
      `select current_setting('server_version_num')::int as version, now() as now, pg_is_in_recovery() as readonly,
              array(select name::text from pg_available_extensions where name = any($1)) as names`,
      [EXTENSIONS],
    )
    return [
      ...databaseFindings(rows[0]!, Date.now()),
      ...(await schemaFindings(connection)),
      ...(await sizeFindings(connection)),
    ]
  } catch (error) {
    return [
      wrong(
        'database',
        `it cannot be reached: ${(error as Error).message}`,
        'Start it, and check host, port, user and password of DATABASE_URL.',
      ),
    ]
  }
}

/** Seconds and name of the client that has the session of the embedded database; undefined while it is free. */
async function heldOf(url: string): Promise<string | undefined> {
  const { username, password } = new URL(url)
  const login = { user: decodeURIComponent(username) || 'postgres', password: decodeURIComponent(password) }
  const session = await LentSession.open({ url, ...login, applicationName: 'terrane doctor' })
  session.close()
  return session.held
}

/** @param held report of the embedded database at a connection: seconds, and the application that has its session */
export function heldFinding(held: string | undefined): Finding | null {
  const [, seconds, name] = /^(\d+) (.+)$/.exec(held ?? '') ?? []
  if (Number(seconds ?? 0) < LONG_HELD_SECONDS) return null
  return wrong(
    'database',
    `${name} has had the one session of the embedded database for ${seconds} s, and all others wait`,
    'Wait for its job or command to end, or cancel it. Index builds and backups cannot be interrupted by others; a PostgreSQL server has no such waits.',
  )
}

/** Problems of a schema on which no app of this version starts: it is of a later version, or too old to be migrated. */
async function schemaFindings(connection: Database): Promise<Finding[]> {
  try {
    await refuseOtherSchema(connection, ['control', 'project'])
    return []
  } catch (error) {
    const { code, message, hint } = error as TerraneError
    return [wrong('schema', `${code}: ${message}`, hint ?? 'Let DATABASE_URL read schema terrane.')]
  }
}

/** Takes the server's answers as arguments and is exported for tests, which have only one server. */
export function databaseFindings(
  said: { readonly version: number; readonly now: Date; readonly names: readonly string[]; readonly readonly: boolean },
  now: number,
): Finding[] {
  const findings: Finding[] = []
  const major = Math.floor(said.version / 10_000)
  if (major < 15)
    findings.push(
      wrong('database', `PostgreSQL ${major} is too old`, 'Use PostgreSQL 15 or newer; 17 is what is tested.'),
    )
  else findings.push(fine('database', `PostgreSQL ${major}`))
  if (said.readonly)
    findings.push(
      wrong('database', 'it is a standby server, which accepts no writes', 'Name the primary in DATABASE_URL.'),
    )
  for (const name of EXTENSIONS) {
    if (said.names.includes(name)) continue
    findings.push(
      wrong(
        'extension',
        `${name} is not installed on the server`,
        `Install its package there (${name === 'vector' ? 'pgvector' : 'PostGIS 3'}).`,
      ),
    )
  }
  const apart = Math.abs(said.now.getTime() - now)
  if (apart > MOST_CLOCK_DIFFERENCE_MS)
    findings.push(
      wrong(
        'clock',
        `the clocks of this machine and the database are ${Math.round(apart / 1000)} s apart`,
        'Synchronise both with NTP: tokens expire.',
      ),
    )
  return findings
}
