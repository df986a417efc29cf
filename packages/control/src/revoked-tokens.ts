import { createHash } from 'node:crypto'
import { hashKey, namesOfToken, unauthorized, type CheckRevoked } from '@terrane/auth'
import type { Database } from '@terrane/database'
import { keysUnavailable } from './errors.ts'
import { KEY_CHANNEL } from './key-record.ts'

/** A token, or all tokens of an id: `jti` of the token, or `kid` of the key that signed it. */
export type RevokedTokens =
  | { readonly token: string }
  | { readonly kind: 'jti' | 'kid'; readonly id: string; readonly projectId: string }

/** Hashes of revoked tokens and ids, complete up to a time of the database's clock. */
export interface RevokedPage {
  readonly sha256: readonly string[]
  readonly until: Date
}

/** Pause after a failed check, in milliseconds. */
const RETRY_MS = 1000

export interface RevocationsOptions {
  /** Reads revocations since a time; all of them for null. */
  readonly read: (since: Date | null) => Promise<RevokedPage>
  /** Time in milliseconds for which revocations are cached. */
  readonly cacheMs: number
  /** Additional time in milliseconds while the database does not answer. */
  readonly graceMs: number
}

/** The revoked tokens, held in memory: few are ever revoked, and many tokens are checked. */
export class Revocations {
  readonly #options: RevocationsOptions
  readonly #sha256 = new Set<string>()
  #until: Date | null = null
  #lookedAt = Number.NEGATIVE_INFINITY
  #isStale = true
  #looking: Promise<void> | null = null
  /** Earliest time of the next check after a failed one. */
  #retryAt = 0

  constructor(options: RevocationsOptions) {
    this.#options = options
  }

  /** Makes the next check read the revocations again; called after a revocation. */
  forget(): void {
    this.#isStale = true
    // A read that began earlier may have missed the revocation.
    this.#looking = null
    this.#retryAt = 0
  }

  /** @param hashes of a token and of its ids, called if anything is revoked @throws UNAUTHORIZED, KEYS_UNAVAILABLE */
  async check(hashes: () => readonly string[]): Promise<void> {
    const now = performance.now()
    if (now >= this.#retryAt && (this.#isStale || now >= this.#lookedAt + this.#options.cacheMs)) {
      this.#looking ??= this.#look()
      const looking = this.#looking
      try {
        await looking
      } finally {
        if (this.#looking === looking) this.#looking = null
      }
    }
    if (this.#sha256.size > 0 && hashes().some((sha256) => this.#sha256.has(sha256)))
      throw unauthorized({ reason: 'revoked' })
  }

  async #look(): Promise<void> {
    const { read, cacheMs, graceMs } = this.#options
    const startedAt = performance.now()
    this.#isStale = false
    try {
      const { sha256, until } = await read(this.#until)
      for (const one of sha256) this.#sha256.add(one)
      if (this.#until === null || until > this.#until) this.#until = until
      this.#lookedAt = Math.max(this.#lookedAt, startedAt)
    } catch (cause) {
      this.#isStale = true
      const now = performance.now()
      if (now >= this.#lookedAt + cacheMs + graceMs) throw keysUnavailable(undefined, { cause })
      this.#retryAt = Math.min(now + RETRY_MS, this.#lookedAt + cacheMs + graceMs)
    }
  }
}

/** Whether a token of a project was revoked, for verifiers and signed URLs. */
export function revocationsOf(revoked: Revocations, projectId: string): CheckRevoked {
  const hashesOf = (token: string): readonly string[] => {
    const names = namesOfToken(token)
    if (names === null) return []
    const ids = (['jti', 'kid'] as const).flatMap((kind) => {
      const name = names[kind]
      return name === null ? [] : [hashOfId(projectId, kind, name)]
    })
    return [...names.texts.map(hashKey), ...ids]
  }
  return (token) => revoked.check(() => hashesOf(token))
}

/** Revokes tokens at once, in every app. Repeating it has no effect. */
export async function revokeTokens(database: Database, revoked: RevokedTokens): Promise<void> {
  const byText = 'token' in revoked
  const sha256 = byText ? hashKey(revoked.token) : hashOfId(revoked.projectId, revoked.kind, revoked.id)
  await database.transaction(async (session) => {
    await session.query(`delete from terrane.revoked_tokens where expires_at < clock_timestamp() - interval '1 day'`)
    await session.query(
      `insert into terrane.revoked_tokens (sha256, kind, project_id, expires_at) values ($1, $2, $3, to_timestamp($4::float8))
       on conflict (sha256) do nothing`,
      [
        sha256,
        byText ? 'token' : revoked.kind,
        byText ? null : revoked.projectId,
        byText ? (namesOfToken(revoked.token)?.exp ?? null) : null,
      ],
    )
    await session.query('select pg_notify($1, $2)', [KEY_CHANNEL, sha256])
  })
}

/** Revocations since a time, less a minute for late commits; empty with the former schema, which has none. */
export async function readRevoked(database: Database, since: Date | null): Promise<RevokedPage> {
  const { rows: known } = await database.query<{ is_there: boolean }>(
    `select to_regclass('terrane.revoked_tokens') is not null as is_there`,
  )
  if (known[0]?.is_there !== true) return { sha256: [], until: new Date(0) }
  const { rows } = await database.query<{ sha256: string[] | null; until: Date }>(
    `select clock_timestamp() as until, (select array_agg(sha256) from terrane.revoked_tokens
       where $1::timestamptz is null or revoked_at > $1::timestamptz - interval '1 minute') as sha256`,
    [since],
  )
  return { sha256: rows[0]?.sha256 ?? [], until: rows[0]!.until }
}

/** Each project signs with its own secret, so the hash of an id includes the project. */
function hashOfId(projectId: string, kind: 'jti' | 'kid', id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([projectId, kind, id]))
    .digest('hex')
}
