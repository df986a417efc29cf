import { uuidv7 } from '@terrane/core'
import type { Database } from '@terrane/database'
import { HASH_COST, hashPassword, verifyPassword, type HashCost } from './password.ts'

/** A person who signs in. */
export interface User {
  readonly id: string
  readonly email: string
  readonly name: string
}

interface UserRow extends User {
  readonly password_hash: string
}

/** Users and the organizations they are members of. */
export class Accounts {
  readonly #database: Database
  readonly #cost: HashCost

  constructor(database: Database, cost = HASH_COST) {
    this.#database = database
    this.#cost = cost
  }

  /**
   * The user with this e-mail address and password, or null. It takes the same time for unknown addresses.
   *
   * @param failures recent failed sign-ins from the address of the attempt; attempts with fewer go first
   */
  async authenticate(email: string, password: string, failures = 0): Promise<User | null> {
    const { rows } = await this.#database.query<UserRow>(
      'select id, email, name, password_hash from terrane.users where email = $1 and disabled_at is null',
      [normaliseEmail(email)],
    )
    const user = rows[0]
    if (!(await verifyPassword(password, user?.password_hash ?? null, this.#cost, failures)) || !user) return null
    return { id: user.id, email: user.email, name: user.name }
  }

  async isEmpty(): Promise<boolean> {
    const { rowCount } = await this.#database.query('select 1 from terrane.users limit 1')
    return rowCount === 0
  }

  /** Makes a user; null when the address is taken. */
  async add(user: { email: string; name?: string; password: string }): Promise<User | null> {
    const { rows } = await this.#database.query<User>(
      `insert into terrane.users (id, email, name, password_hash) values ($1, $2, $3, $4)
       on conflict (email) do nothing returning id, email, name`,
      [uuidv7(), normaliseEmail(user.email), user.name ?? '', await hashPassword(user.password, this.#cost)],
    )
    return rows[0] ?? null
  }

  /** Sets a new password and ends the user's other sessions. False when there is no such user. */
  async setPassword(email: string, password: string, keepSession = ''): Promise<boolean> {
    const hash = await hashPassword(password, this.#cost)
    return this.#database.transaction(async (session) => {
      const { rows } = await session.query<{ id: string }>(
        'update terrane.users set password_hash = $2 where email = $1 returning id',
        [normaliseEmail(email), hash],
      )
      const user = rows[0]
      if (!user) return false
      await session.query('delete from terrane.console_sessions where user_id = $1 and token_sha256 <> $2', [
        user.id,
        keepSession,
      ])
      return true
    })
  }

  /** Makes a user a member of an organization. False when one of them does not exist. */
  async addMember(email: string, organizationId: string): Promise<boolean> {
    const { rowCount } = await this.#database.query(
      `insert into terrane.memberships (user_id, organization_id)
       select u.id, o.id from terrane.users u, terrane.organizations o where u.email = $1 and o.id = $2
       on conflict (user_id, organization_id) do update set user_id = excluded.user_id`,
      [normaliseEmail(email), organizationId],
    )
    return rowCount === 1
  }

  /** Removes a user from an organization; sessions notice it at their next request. */
  async removeMember(email: string, organizationId: string): Promise<boolean> {
    const { rowCount } = await this.#database.query(
      `delete from terrane.memberships m using terrane.users u
       where m.user_id = u.id and u.email = $1 and m.organization_id = $2`,
      [normaliseEmail(email), organizationId],
    )
    return rowCount === 1
  }
}

/** Addresses are compared without regard to case. */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase()
}
