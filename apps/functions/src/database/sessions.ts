import { LentSession } from '@terrane/database'
import type { Login } from './logins.ts'

/** Under whose role and claims a session runs. */
export interface Identity {
  readonly role: 'anon' | 'authenticated' | 'service_role'
  /** JSON; null without a caller. */
  readonly claims: string | null
  /** Longest statement, and longest rest within a transaction, in milliseconds. */
  readonly timeoutMs: number
}

const IDENTIFY = `select set_config('role', $1, false), set_config('request.jwt.claims', $2, false),
  set_config('statement_timeout', $3, false), set_config('idle_in_transaction_session_timeout', $3, false),
  set_config('search_path', 'public, extensions', false)`
const IDLE_MS = 30_000
const WAIT_MS = 10_000

/** Every session of the project is taken. */
export class NoSession extends Error {
  override readonly name = 'NoSession'
}

interface Free {
  readonly session: LentSession
  readonly until: number
}

/** The sessions of one login: opened on demand, cleaned and reused, and closed when idle. */
export class Sessions implements Disposable {
  readonly #url: string
  readonly #login: Login
  readonly #most: number
  readonly #free: Free[] = []
  readonly #lent = new Set<LentSession>()
  readonly #waiting: (() => void)[] = []
  readonly #sweeper: NodeJS.Timeout
  #taken = 0
  #closed = false

  /** @param most sessions at once */
  constructor(url: string, login: Login, most: number) {
    this.#url = url
    this.#login = login
    this.#most = most
    this.#sweeper = setInterval(() => this.#sweep(), IDLE_MS / 2)
    this.#sweeper.unref()
  }

  /** @throws NoSession after ten seconds, DATABASE_UNAVAILABLE */
  async lease({ role, claims, timeoutMs }: Identity): Promise<LentSession> {
    await this.#place()
    let session: LentSession | undefined
    try {
      for (session = this.#free.pop()?.session; session?.lost; session = this.#free.pop()?.session);
      session ??= await LentSession.open({ url: this.#url, ...this.#login, applicationName: 'terrane function' })
      this.#lent.add(session)
      await session.query(IDENTIFY, [role, claims ?? '', String(timeoutMs)])
      return session
    } catch (error) {
      this.drop(session)
      throw error
    }
  }

  /** Takes back a session that the server has finished with, and resets it: no state of its last user remains. */
  async giveBack(session: LentSession, inTransaction: boolean): Promise<void> {
    try {
      if (inTransaction) await session.query('rollback')
      await session.query('discard all')
    } catch {
      return this.drop(session)
    }
    if (this.#closed) return this.drop(session)
    this.#lent.delete(session)
    this.#free.push({ session, until: performance.now() + IDLE_MS })
    this.#leave()
  }

  /** The session cannot be used again. */
  drop(session: LentSession | undefined): void {
    if (session) this.#lent.delete(session)
    session?.close()
    this.#leave()
  }

  [Symbol.dispose](): void {
    this.#closed = true
    clearInterval(this.#sweeper)
    for (const session of [...this.#lent, ...this.#free.splice(0).map((free) => free.session)]) session.close()
  }

  async #place(): Promise<void> {
    if (this.#taken >= this.#most) {
      const granted = Promise.withResolvers<void>()
      this.#waiting.push(granted.resolve)
      const timer = setTimeout(() => granted.reject(new NoSession('every session is taken')), WAIT_MS)
      try {
        await granted.promise
      } finally {
        clearTimeout(timer)
        const at = this.#waiting.indexOf(granted.resolve)
        if (at >= 0) this.#waiting.splice(at, 1)
      }
    }
    this.#taken++
  }

  #leave(): void {
    this.#taken--
    this.#waiting.shift()?.()
  }

  #sweep(): void {
    const now = performance.now()
    while (this.#free.length > 0 && this.#free[0]!.until < now) this.#free.shift()!.session.close()
  }
}
