import type { Client } from './client.ts'
import type { Engine } from '../engine/engine.ts'
import { fieldsOf, messagesOf, rowsOf, simpleQuery, SYNC } from '../protocol/messages.ts'
import { HELD, type SessionState } from './session-state.ts'
import { ownStartUp, statusesIn } from '../protocol/start-up.ts'

/** An engine's session, cleaned (`DISCARD ALL`) and set by {@link SessionState} before another client's unit. */
export class SharedSession {
  readonly engine: Engine
  /** ParameterStatus messages, as they are for a client without settings. */
  readonly statuses: Buffer
  /** The client whose settings the session has; null for none. */
  #current: Client | null = null

  static async open(engine: Engine): Promise<SharedSession> {
    return new SharedSession(engine, statusesIn(await answerTo(engine, ownStartUp())))
  }

  private constructor(engine: Engine, statuses: Buffer) {
    this.engine = engine
    this.statuses = statuses
  }

  /** Switches to a client. Returns the answer to its settings. */
  async enter(client: Client): Promise<Buffer> {
    if (this.#current === client) return Buffer.alloc(0)
    const cleaning = await this.#detach()
    this.#current = client
    client.session.left()
    const statements = [...cleaning, ...client.session.restore]
    return statements.length === 0 ? Buffer.alloc(0) : this.ask(...statements)
  }

  /** Leaves the current client, so that default settings apply. */
  async leave(): Promise<void> {
    const cleaning = await this.#detach()
    if (cleaning.length > 0) await this.ask(...cleaning)
  }

  /** Prepares the statements of a unit that the session does not have any more. */
  async prepareAgain({ session }: Client, unit: Buffer): Promise<void> {
    const missing = session.missing(unit)
    if (missing.length === 0) return
    // In a failed transaction the statements cannot be prepared, but they could not run either.
    await answerTo(this.engine, Buffer.concat([...missing, SYNC]))
    session.prepared(missing)
  }

  /** Whether it holds state that cannot be saved, e.g. temporary tables. */
  async holds(): Promise<boolean> {
    return rowsOf(await this.ask(HELD))[0]?.[0] === 't'
  }

  /** Rolls back the transaction of a disconnected client. After an error the session accepts nothing but Sync. */
  async rollback(): Promise<void> {
    await answerTo(this.engine, Buffer.concat([SYNC, simpleQuery('rollback')]))
  }

  /** Runs the server's own statements, each as a separate query, in one turn of the engine. */
  ask(...statements: readonly string[]): Promise<Buffer> {
    return answerTo(this.engine, Buffer.concat(statements.map(simpleQuery)))
  }

  /** Leaves the current client. Returns the statements that clean the session. */
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
    // Reads as the server's own user, because some settings are hidden from other roles.
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

/** Returns to PGlite's only user, which RESET and DISCARD do not do in PGlite. */
const OWN_USER = 'set session authorization postgres'
