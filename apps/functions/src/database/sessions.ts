import { LentSession } from '@terrane/database'
import type { LoginKind, Logins } from './logins.ts'

/** Role and claims of a session. */
export interface Identity {
  readonly role: 'anon' | 'authenticated' | 'service_role'
  /** JSON; null without a caller. */
  readonly claims: string | null
  /** Maximum time of a statement, and of idling within a transaction, in milliseconds. */
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

interface Waiting {
  readonly owner: string
  readonly grant: () => void
}

/** The sessions of one kind: opened on demand, each under a login of its own, cleaned and reused, and closed when idle. */
export class Sessions implements Disposable {
  readonly #url: string
  readonly #kind: LoginKind
  readonly #logins: Logins
  readonly #most: number
  /** Maximum number of sessions of one owner; the rest stays free for other owners. */
  readonly #share: number
  readonly #free: Free[] = []
  readonly #lent = new Map<LentSession, string>()
  /** User names of the sessions' logins. */
  readonly #users = new Map<LentSession, string>()
  readonly #waiting: Waiting[] = []
  readonly #takenBy = new Map<string, number>()
  readonly #sweeper: NodeJS.Timeout
  #taken = 0
  #closed = false

  /** @param most sessions at once */
  constructor(url: string, kind: LoginKind, logins: Logins, most: number) {
    this.#url = url
    this.#kind = kind
    this.#logins = logins
    this.#most = most
    this.#share = Math.max(1, most - Math.max(1, Math.floor(most / 4)))
    this.#sweeper = setInterval(() => this.#sweep(), IDLE_MS / 2)
    this.#sweeper.unref()
  }

  /**
   * @param owner the function; if there are several sessions, one function never gets all of them
   * @throws NoSession after ten seconds, DATABASE_UNAVAILABLE
   */
  async lease({ role, claims, timeoutMs }: Identity, owner: string): Promise<LentSession> {
    await this.#place(owner)
    let session: LentSession | undefined
    try {
      for (session = this.#free.pop()?.session; session?.lost; session = this.#free.pop()?.session) this.#close(session)
      session ??= await this.#open()
      await session.query(IDENTIFY, [role, claims ?? '', String(timeoutMs)])
      this.#lent.set(session, owner)
      return session
    } catch (error) {
      if (session) this.#close(session)
      this.#leave(owner)
      throw error
    }
  }

  /** Takes back a session that the server has finished with, and resets all state of its last user. */
  async giveBack(session: LentSession, inTransaction: boolean): Promise<void> {
    try {
      if (inTransaction) await session.query('rollback')
      await session.query('discard all')
      // A login can own large objects and default privileges.
      await session.query('drop owned by session_user')
    } catch {
      return this.drop(session)
    }
    if (this.#closed) return this.drop(session)
    this.#free.push({ session, until: performance.now() + IDLE_MS })
    this.#return(session)
  }

  /** Closes a session that cannot be used again. */
  drop(session: LentSession): void {
    this.#close(session)
    this.#return(session)
  }

  [Symbol.dispose](): void {
    this.#closed = true
    clearInterval(this.#sweeper)
    for (const session of [...this.#lent.keys(), ...this.#free.splice(0).map((free) => free.session)])
      this.#close(session)
  }

  async #open(): Promise<LentSession> {
    const login = await this.#logins.create(this.#kind)
    try {
      const session = await LentSession.open({ url: this.#url, ...login, applicationName: 'terrane function' })
      this.#users.set(session, login.user)
      return session
    } catch (error) {
      void this.#logins.drop(login.user)
      throw error
    }
  }

  #close(session: LentSession): void {
    session.close()
    const user = this.#users.get(session)
    if (this.#users.delete(session)) void this.#logins.drop(user!)
  }

  async #place(owner: string): Promise<void> {
    if (this.#mayTake(owner)) return this.#take(owner)
    const granted = Promise.withResolvers<void>()
    const waiting = { owner, grant: granted.resolve }
    this.#waiting.push(waiting)
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      granted.reject(new NoSession('every session is taken'))
    }, WAIT_MS)
    await granted.promise.finally(() => clearTimeout(timer))
  }

  #mayTake(owner: string): boolean {
    return this.#taken < this.#most && (this.#takenBy.get(owner) ?? 0) < this.#share
  }

  #take(owner: string): void {
    this.#taken++
    this.#takenBy.set(owner, (this.#takenBy.get(owner) ?? 0) + 1)
  }

  #return(session: LentSession): void {
    const owner = this.#lent.get(session)
    if (this.#lent.delete(session)) this.#leave(owner!)
  }

  /** Gives the free session to the next client in the queue whose owner uses less than its share of sessions. */
  #leave(owner: string): void {
    this.#taken--
    const left = this.#takenBy.get(owner)! - 1
    if (left > 0) this.#takenBy.set(owner, left)
    else this.#takenBy.delete(owner)
    const next = this.#waiting.findIndex((waiting) => this.#mayTake(waiting.owner))
    if (next < 0) return
    const [waiting] = this.#waiting.splice(next, 1)
    this.#take(waiting!.owner)
    waiting!.grant()
  }

  #sweep(): void {
    const now = performance.now()
    while (this.#free.length > 0 && this.#free[0]!.until < now) this.#close(this.#free.shift()!.session)
  }
}
