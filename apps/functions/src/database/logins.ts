import { createHash, randomBytes } from 'node:crypto'
import { openDatabase, quoteIdentifier, quoteLiteral, type Database } from '@terrane/database'

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
 * Sets two settings for the transaction that creates a login, if the server has them, and returns the time until which
 * the login can sign in.
 */
const PREPARE = `select (clock_timestamp() + interval '1 minute')::text as until,
  (select count(set_config(name, case name when 'scram_iterations' then '1' else 'inherit' end, true))
   from pg_settings where name in ('scram_iterations', 'createrole_self_grant')) as settings`
const SWEEP_MS = 600_000

/**
 * Logins of functions' sessions in one database. Each session has its own login, which signs in once and is dropped
 * with the session, because PostgreSQL lets every role change its own settings and password. Logins have no privileges
 * and inherit none, so RESET ROLE gives access to nothing.
 */
export class Logins implements AsyncDisposable {
  readonly #database: Database
  readonly #prefix: (kind: LoginKind) => string
  readonly #made = new Set<string>()
  #sweptAt = Number.NEGATIVE_INFINITY

  /**
   * Null on the embedded database: its clients share one superuser.
   *
   * @param url of a user who may create roles
   * @throws DATABASE_UNAVAILABLE
   */
  static async open(url: string): Promise<Logins | null> {
    await using opening = new AsyncDisposableStack()
    // Two connections: a login whose session ends slowly delays no other.
    const database = opening.use(await openDatabase({ url, max: 2, applicationName: 'terrane functions logins' }))
    if (database.capabilities.engine === 'pglite') return null
    const { rows } = await database.query<{ name: string }>('select current_database() as name')
    const mark = createHash('sha256').update(rows[0]!.name).digest('hex').slice(0, 12)
    opening.move()
    return new Logins(database, mark)
  }

  private constructor(database: Database, mark: string) {
    this.#database = database
    this.#prefix = (kind) => `terrane_function_${kind}_${mark}_`
  }

  /**
   * Creates a login for one session, which has to be opened within a minute.
   *
   * @throws DATABASE_UNAVAILABLE, or the server's error about missing privileges
   */
  async create(kind: LoginKind): Promise<Login> {
    if (performance.now() - this.#sweptAt > SWEEP_MS) await this.#sweep()
    const login = {
      user: this.#prefix(kind) + randomBytes(6).toString('hex'),
      password: randomBytes(24).toString('base64url'),
    }
    await this.#database.transaction(async (session) => {
      const { rows } = await session.query<{ until: string }>(PREPARE)
      await session.query(`create role ${quoteIdentifier(login.user)}
        with login nosuperuser nocreatedb nocreaterole noinherit nobypassrls noreplication connection limit 1
        valid until ${quoteLiteral(rows[0]!.until)} password ${quoteLiteral(login.password)}
        in role ${ROLES[kind].map(quoteIdentifier).join(', ')}`)
    })
    this.#made.add(login.user)
    return login
  }

  /** Ends the rest of a login's session and drops the login. After a failure a later sweep drops it. */
  async drop(user: string): Promise<void> {
    const name = quoteIdentifier(user)
    try {
      await this.#database.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = $1', [
        user,
      ])
      await this.#database.statement(`drop owned by ${name}; drop role ${name}`, `begin; set local lock_timeout = '5s'`)
    } catch {
      // The server cannot be reached, or the login has been dropped by a sweep.
    }
    this.#made.delete(user)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#made].map((user) => this.drop(user)))
    await this.#database.close()
  }

  /** Drops logins without a session that can no longer sign in: those of hosts that were killed. */
  async #sweep(): Promise<void> {
    this.#sweptAt = performance.now()
    const { rows } = await this.#database.query<{ user: string }>(
      `select rolname as user from pg_roles
       where (starts_with(rolname, $1) or starts_with(rolname, $2)) and rolvaliduntil < now()
         and not exists (select from pg_stat_activity where usesysid = pg_roles.oid)`,
      [this.#prefix('plain'), this.#prefix('privileged')],
    )
    await Promise.all(rows.map(({ user }) => this.drop(user)))
  }
}
