import type { Client } from './client.ts'
import type { Engine } from '../engine/engine.ts'
import { fieldsOf, messagesOf, rowsOf, simpleQuery, SYNC } from '../protocol/messages.ts'
import { HELD, type SessionState } from './session-state.ts'
import { ownStartUp, statusesIn } from '../protocol/start-up.ts'

/**
 * The one session of an engine, which its clients have in turns. Before another client's unit it is cleaned
 * (`DISCARD ALL`), and gets that client's own settings and prepared statements ({@link SessionState}).
 */
export class SharedSession {
  readonly engine: Engine
  /** ParameterStatus messages, as they are for a client without settings. */
  readonly statuses: Buffer
  /** Whose settings it has. */
  #current: Client | null = null

  static async open(engine: Engine): Promise<SharedSession> {
    return new SharedSession(engine, statusesIn(await answerTo(engine, ownStartUp())))
  }

  private constructor(engine: Engine, statuses: Buffer) {
    this.engine = engine
    this.statuses = statuses
  }

  /** Makes it a client's. Returns what the session says to its settings. */
  async enter(client: Client): Promise<Buffer> {
    if (this.#current === client) return Buffer.alloc(0)
    const cleaning = await this.#detach()
    this.#current = client
    client.session.left()
    const statements = [...cleaning, ...client.session.restore]
    return statements.length === 0 ? Buffer.alloc(0) : this.ask(...statements)
  }

  /** Makes it the server's own: no client's settings hold. */
  async leave(): Promise<void> {
    const cleaning = await this.#detach()
    if (cleaning.length > 0) await this.ask(...cleaning)
  }

  /** Prepares what a unit of the client uses and the session has forgotten. */
  async prepareAgain({ session }: Client, unit: Buffer): Promise<void> {
    const missing = session.missing(unit)
    if (missing.length === 0) return
    // In a transaction that has failed nothing can be prepared, and nothing is run either.
    await answerTo(this.engine, Buffer.concat([...missing, SYNC]))
    session.prepared(missing)
  }

  /** Whether it has what cannot be put away. */
  async holds(): Promise<boolean> {
    return rowsOf(await this.ask(HELD))[0]?.[0] === 't'
  }

  /** Ends what a client that is gone has left open. After an error the session hears nothing but Sync. */
  async rollback(): Promise<void> {
    await answerTo(this.engine, Buffer.concat([SYNC, simpleQuery('rollback')]))
  }

  /** Runs statements of the server's own, each as a query of its own, in one turn of the engine. */
  ask(...statements: readonly string[]): Promise<Buffer> {
    return answerTo(this.engine, Buffer.concat(statements.map(simpleQuery)))
  }

  /** Takes it from its client. Returns the statements that clean it. */
  async #detach(): Promise<readonly string[]> {
    const before = this.#current
    if (!before) return []
    this.#current = null
    if (before.session.dirty && !before.gone) await this.#remember(before.session)
    before.session.left()
    return [OWN_USER, 'discard all']
  }

  async #remember(session: SessionState): Promise<void> {
    const names = session.names.map((name) => `('${name}')`).join(', ')
    const own = names === '' ? '' : `union all select name, current_setting(name, true) from (values ${names}) v (name)`
    const special = rowsOf(
      await this.ask(`select 'role', current_setting('role')
        union all select 'session_authorization', current_setting('session_authorization') ${own}`),
    )
    // Not everyone may see every setting.
    const listed = rowsOf(await this.ask(OWN_USER, `select name, setting from pg_settings where source = 'session'`))
    const known = new Set(listed.map(([name]) => name))
    const settings = [...listed, ...special.filter(([name]) => !known.has(name as string))]
    session.remember(settings.filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== ''))
  }
}

/** Sends messages of the server's own. Returns the answer, which goes to no client. */
export async function answerTo(engine: Engine, bytes: Buffer): Promise<Buffer> {
  const answer: Buffer[] = []
  await engine.run(bytes, (data, taken) => {
    answer.push(data)
    taken()
  })
  return Buffer.concat(answer)
}

/** The first error of an answer, by its fields. */
export function errorIn(answer: Buffer): ReadonlyMap<string, string> | null {
  for (const { type, start, end } of messagesOf(answer)) {
    if (type === 'E') return fieldsOf(answer.subarray(start - 5, end))
  }
  return null
}

/** PGlite's only user. There is no way back to it by RESET or DISCARD, as on a server that asks who connects. */
const OWN_USER = 'set session authorization postgres'
