import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { hashKey } from '@terrane/auth'
import type { Database } from '@terrane/database'
import type { User } from '../accounts/accounts.ts'

/** A session of a signed-in user. */
export interface Session {
  readonly user: User
  readonly tokenSha256: string
  /** Token that a request that changes something must repeat in the header x-csrf-token. */
  readonly csrfToken: string
  readonly expiresAt: Date
}

export interface SessionLimits {
  readonly idleMinutes: number
  readonly hours: number
}

interface SessionRow extends User {
  readonly expires_at: Date
  readonly stale: boolean
}

/** Sessions in the control database; a session's token is kept as a hash only. */
export class Sessions {
  readonly #database: Database
  readonly #limits: SessionLimits

  constructor(database: Database, limits: SessionLimits) {
    this.#database = database
    this.#limits = limits
  }

  /** Opens a session and returns it with its token, which only the cookie holds. Deletes expired sessions. */
  async open(user: User): Promise<{ session: Session; token: string }> {
    const token = randomBytes(32).toString('base64url')
    const tokenSha256 = hashKey(token)
    await this.#database.query(
      `delete from terrane.console_sessions where expires_at < now() or last_seen_at < now() - $1 * interval '1 minute'`,
      [this.#limits.idleMinutes],
    )
    const { rows } = await this.#database.query<{ expires_at: Date }>(
      `insert into terrane.console_sessions (token_sha256, user_id, expires_at)
       values ($1, $2, clock_timestamp() + $3 * interval '1 hour') returning expires_at`,
      [tokenSha256, user.id, this.#limits.hours],
    )
    const expiresAt = rows[0]?.expires_at ?? new Date()
    return { session: { user, tokenSha256, csrfToken: csrfTokenOf(token), expiresAt }, token }
  }

  /** The session of a token, or null when there is none or it has ended. */
  async find(token: string): Promise<Session | null> {
    const tokenSha256 = hashKey(token)
    const { rows } = await this.#database.query<SessionRow>(
      `select u.id, u.email, u.name, s.expires_at, s.last_seen_at < clock_timestamp() - interval '1 minute' as stale
       from terrane.console_sessions s join terrane.users u on u.id = s.user_id
       where s.token_sha256 = $1 and s.expires_at > clock_timestamp() and u.disabled_at is null
         and s.last_seen_at > clock_timestamp() - $2 * interval '1 minute'`,
      [tokenSha256, this.#limits.idleMinutes],
    )
    const row = rows[0]
    if (!row) return null
    // The time of the last use is stored at most once a minute, to avoid a write per request.
    if (row.stale) {
      await this.#database.query(
        'update terrane.console_sessions set last_seen_at = clock_timestamp() where token_sha256 = $1',
        [tokenSha256],
      )
    }
    const { id, email, name, expires_at: expiresAt } = row
    return { user: { id, email, name }, tokenSha256, csrfToken: csrfTokenOf(token), expiresAt }
  }

  async close(session: Session): Promise<void> {
    await this.#database.query('delete from terrane.console_sessions where token_sha256 = $1', [session.tokenSha256])
  }
}

/** The CSRF token of one session: HMAC-SHA256 under the session's own token. */
function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('terrane console csrf').digest('base64url')
}

/** Compares a request's token with that of its session, in constant time. */
export function csrfMatches(session: Session, sent: unknown): boolean {
  if (typeof sent !== 'string') return false
  const [a, b] = [Buffer.from(hashKey(sent), 'hex'), Buffer.from(hashKey(session.csrfToken), 'hex')]
  return timingSafeEqual(a, b)
}
