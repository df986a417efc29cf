import type { Socket } from 'node:net'
import type { LentSession } from '@terrane/database'
import { TerraneError } from '@terrane/core'
import type { FunctionVersion } from '../function-version.ts'
import type { Caller } from '../gateway/caller.ts'
import { OUTSIDE, type Depths } from '../gateway/depth.ts'
import type { Instance } from '../pool/instance.ts'
import { FUNCTION_USER, callOfUser } from './address.ts'
import { Logins, type LoginKind } from './logins.ts'
import { NoSession, Sessions, type Identity } from './sessions.ts'
import { splice, type Splice } from './splice.ts'
import { readOpening, refusal, welcome } from './start-up.ts'

export interface DatabaseDoorOptions {
  /** URL of a project's database, as a user who may create roles; null when functions have no database. */
  readonly urlOf: (project: string) => string | null
  /** Maximum number of sessions of a project; the service role has as many in addition. */
  readonly sessions: number
  readonly depths: Depths
  readonly onFailed: (version: FunctionVersion, error: unknown) => void
}

/** Owner of the connection. */
export interface Visitor {
  readonly version: FunctionVersion
  readonly instance: () => Instance | null
}

/** A session that a client uses. */
interface Loan {
  readonly session: LentSession
  readonly version: FunctionVersion
  readonly splice: Splice
  readonly isWelcome: () => boolean
}

/** Interval at which sessions of ended calls are closed. */
const SWEEP_MS = 1000

/** The sessions of a project. */
interface Opened extends Readonly<Record<LoginKind, Sessions>> {
  readonly logins: Logins
}

const ROLES = { none: 'anon', anon: 'anon', user: 'authenticated', service: 'service_role' } as const

/**
 * Functions' access to their project's database. A PostgreSQL client is signed in without a password under the identity
 * that its user name gives: the function itself, or a call in this instance. It gets a session of a login without
 * privileges, set to the role and the claims of that identity.
 */
export class DatabaseDoor implements AsyncDisposable {
  readonly #options: DatabaseDoorOptions
  readonly #projects = new Map<string, { readonly url: string; readonly opened: Promise<Opened | null> }>()
  /** Sessions in use, by the process id of the server's backend. */
  readonly #lent = new Map<number, Loan>()
  readonly #sweeper: NodeJS.Timeout

  constructor(options: DatabaseDoorOptions) {
    this.#options = options
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS)
    this.#sweeper.unref()
  }

  /** Serves one client until it leaves. */
  async serve(client: Socket, { version, instance }: Visitor): Promise<void> {
    const opening = await readOpening(client)
    if (opening.kind === 'cancel') {
      const found = this.#lent.get(opening.processId)
      const isTheirs = found?.version === version && found.session.key.secretKey === opening.secretKey
      // The client takes the end of the connection as the sign that the server has received its request.
      if (isTheirs) await found.splice.cancel()
      return void client.end()
    }
    const id = callOfUser(opening.user)
    const call = id === null ? undefined : instance()?.call(id)
    if (id === null ? opening.user !== FUNCTION_USER : !call)
      return refuse(client, '28000', `there is no user '${opening.user.slice(0, 80)}'`, USERS)
    const depth = () => this.#options.depths.next(version.project, call?.depth ?? instance()?.depth ?? OUTSIDE)
    const identity = identityOf(version, call?.caller)
    try {
      const opened = await this.#sessionsOf(version.project)
      if (!opened) return refuse(client, '0A000', NO_SOCKETS, BY_API)
      const sessions = identity.role === 'service_role' ? opened.privileged : opened.plain
      const session = await sessions.lease(identity, version.name)
      const isWelcome = () => id === null || instance()?.call(id) !== undefined
      await this.#lend(client, session, sessions, { version, isWelcome, depth })
    } catch (error) {
      if (error instanceof NoSession)
        return refuse(client, '53300', 'every session that this function may have is taken', CLOSE)
      this.#options.onFailed(version, error)
      const code = error instanceof TerraneError ? '08006' : 'XX000'
      refuse(
        client,
        code,
        'the database of the project cannot be used',
        'Ask the operator: the log of the host says why.',
      )
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    for (const { opened } of this.#projects.values()) {
      const sessions = await opened.catch(() => null)
      sessions?.plain[Symbol.dispose]()
      sessions?.privileged[Symbol.dispose]()
      await sessions?.logins[Symbol.asyncDispose]()
    }
  }

  async #lend(
    client: Socket,
    session: LentSession,
    sessions: Sessions,
    { version, isWelcome, depth }: Pick<Loan, 'version' | 'isWelcome'> & { readonly depth: () => string },
  ): Promise<void> {
    const { processId } = session.key
    client.write(welcome(session.parameters, session.key))
    const spliced = client.destroyed ? null : splice(client, session, { isWelcome, depth })
    if (spliced) this.#lent.set(processId, { session, version, splice: spliced, isWelcome })
    const left = (await spliced?.left) ?? 'unfinished'
    this.#lent.delete(processId)
    client.destroy()
    if (left !== 'unfinished') return sessions.giveBack(session, left === 'transaction')
    void session.cancel()
    sessions.drop(session)
  }

  /** Ends the sessions of ended calls; a client that sends nothing is noticed only here. */
  #sweep(): void {
    for (const { splice: spliced, isWelcome } of this.#lent.values()) if (!isWelcome()) spliced.end()
  }

  #sessionsOf(project: string): Promise<Opened | null> {
    const url = this.#options.urlOf(project)
    const known = this.#projects.get(project)
    if (url === null) return Promise.resolve(null)
    if (known?.url === url) return known.opened
    const opened = openSessions(url, this.#options.sessions)
    this.#projects.set(project, { url, opened })
    opened.catch(() => this.#projects.delete(project))
    return opened
  }
}

async function openSessions(url: string, most: number): Promise<Opened | null> {
  const logins = await Logins.open(url)
  if (!logins) return null
  const of = (kind: LoginKind) => new Sessions(url, kind, logins, most)
  return { logins, plain: of('plain'), privileged: of('privileged') }
}

const USERS = 'Use TERRANE_DB_URL, or ctx.databaseUrl while the call that it was given to goes on.'
// The message contains the remedy, because many programs do not show PostgreSQL's hint.
const NO_SOCKETS =
  'functions have no sockets to the embedded database: use the project API (SUPABASE_URL), or PostgreSQL'
const BY_API =
  'The embedded database has one superuser for everybody; the project API asks it as the caller of the call.'
const CLOSE = 'End clients when their work is done, or lower the number of connections that a pool may open.'

/** @param caller of the call; absent for the function itself, null for a call without a caller */
function identityOf({ policy }: FunctionVersion, caller: Caller | null | undefined): Identity {
  const timeoutMs = policy.timeout_ms
  if (caller === undefined) {
    const role = policy.privileged ? 'service_role' : 'anon'
    return { role, claims: JSON.stringify({ role }), timeoutMs }
  }
  const claims = caller?.claims == null ? null : decodeURIComponent(caller.claims)
  return { role: ROLES[caller?.rank ?? 'none'], claims, timeoutMs }
}

function refuse(client: Socket, code: string, text: string, hint: string): void {
  client.end(refusal(code, text, hint))
}
