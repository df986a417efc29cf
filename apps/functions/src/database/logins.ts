import { createHash, createHmac } from 'node:crypto'
import { openDatabase, quoteIdentifier, quoteLiteral } from '@terrane/database'

/** The login of a function's session, which decides the roles it can take. The login itself has no privileges. */
export type LoginKind = 'plain' | 'privileged'

export interface Login {
  readonly user: string
  readonly password: string
}

const ROLES: Readonly<Record<LoginKind, readonly string[]>> = {
  plain: ['anon', 'authenticated'],
  privileged: ['anon', 'authenticated', 'service_role'],
}

/**
 * Creates the two logins of a database, or resets their password. They have no privileges of their own and inherit
 * none, so RESET ROLE gives access to nothing. All hosts that share a secrets key derive the same password.
 *
 * @param url of a user who may create roles
 * @throws DATABASE_UNAVAILABLE, or the server's error about missing privileges
 */
export async function openLogins(url: string, secretsKey: Buffer): Promise<Readonly<Record<LoginKind, Login>> | null> {
  await using database = await openDatabase({ url, max: 1, applicationName: 'terrane functions logins' })
  // Its clients share one superuser: no login would hold anybody.
  if (database.capabilities.engine === 'pglite') return null
  const { rows } = await database.query<{ name: string }>('select current_database() as name')
  const mark = createHash('sha256').update(rows[0]!.name).digest('hex').slice(0, 12)
  const login = (kind: LoginKind): Login => ({
    user: `terrane_function_${kind}_${mark}`,
    password: createHmac('sha256', secretsKey).update(`function login ${kind} ${mark}`).digest('hex'),
  })
  const logins = { plain: login('plain'), privileged: login('privileged') }
  await database.transaction(async (session) => {
    await session.query(`select pg_advisory_xact_lock(hashtext('terrane_function_logins'))`)
    for (const kind of ['plain', 'privileged'] as const) {
      const { user, password } = logins[kind]
      const name = quoteIdentifier(user)
      const { rowCount } = await session.query('select from pg_roles where rolname = $1', [user])
      if (rowCount === 0) await session.query(`create role ${name}`)
      const rights = 'nosuperuser nocreatedb nocreaterole noinherit nobypassrls noreplication'
      await session.query(`alter role ${name} with login ${rights} password ${quoteLiteral(password)}`)
      await session.query(`grant ${ROLES[kind].map(quoteIdentifier).join(', ')} to ${name}`)
    }
  })
  return logins
}
