import { cString, messagesOf, type Message } from '../protocol/messages.ts'
import { statementsOf } from '../protocol/sql-words.ts'

/** Maximum names of custom settings that are stored per client. */
const MAX_NAMES = 100
/** Maximum length of a custom setting's name: two identifiers of 63 bytes and the dot. */
const MAX_NAME = 127
/** Maximum length of a text that is searched for names of settings, in characters. */
const MAX_SEARCHED = 65_536
/** Whether the session holds state that cannot be saved and restored. */
export const HELD = `select exists(select from pg_class where relpersistence = 't' and relkind in ('r', 'S', 'v'))
  or exists(select from pg_prepared_statements where from_sql) or exists(select from pg_cursors where is_holdable)
  or exists(select from pg_locks where locktype = 'advisory')`

/**
 * Settings and prepared statements of one client of the shared session. Whether settings may have changed is detected
 * in the texts of its statements. Their values are read from the server, because they depend on what was committed.
 */
export class SessionState {
  /** Statements that restore the settings. */
  #restore: readonly string[] = []
  /** Names of custom settings such as `request.jwt.claims`, which no view lists. */
  readonly #names = new Set<string>()
  /** Parse messages by the name of the statement; the empty one is the unnamed. */
  readonly #prepared = new Map<string, Buffer>()
  /** Names of the prepared statements that the session has now. */
  readonly #live = new Set<string>()
  /** Whether the settings of the session may differ from the remembered ones. */
  dirty = false
  /** Whether the client may have temporary tables or other state that cannot be saved. */
  mayHold = false

  /** Takes settings from the parameters of a start-up packet. */
  started(parameters: ReadonlyMap<string, string>): void {
    const settings = [...parameters].filter(([name]) => !NO_SETTINGS.has(name))
    for (const option of (parameters.get('options') ?? '').split(/(?<!\\) +/)) {
      const [name, ...value] = option.replace(/^(-c|--)/, '').split('=')
      if (name && value.length > 0) settings.push([name.replaceAll('-', '_'), value.join('=').replaceAll('\\ ', ' ')])
    }
    this.#restore = settings.map(([name, value]) => setting(name, value))
  }

  /** The session passes to another client. */
  left(): void {
    this.#live.clear()
  }

  get restore(): readonly string[] {
    return this.#restore
  }

  /** Names of settings to ask for. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  /** Stores the current settings as names and values, including role and session authorization. */
  remember(settings: readonly (readonly [name: string, value: string])[]): void {
    this.dirty = false
    const last = new Set(['session_authorization', 'role'])
    this.#restore = [
      ...settings.filter(([name]) => !last.has(name)),
      ...settings.filter(([name, value]) => name === 'session_authorization' && value !== 'postgres'),
      ...settings.filter(([name, value]) => name === 'role' && value !== 'none'),
    ].map(([name, value]) => setting(name, value))
  }

  /** Parse messages of the statements that a unit names and the session has not prepared. */
  missing(unit: Buffer): Buffer[] {
    const missing = new Set<string>()
    const parsed = new Set<string>()
    for (const message of messagesOf(unit)) {
      const name = statementName(unit, message)
      if (name === null) continue
      // The unit parses this statement itself: it replaces the unnamed one, and a named one must not exist.
      if (message.type === 'P' && name === '') parsed.add(name)
      else if (!parsed.has(name) && this.#prepared.has(name) && !this.#live.has(name)) missing.add(name)
    }
    return [...missing].map((name) => this.#prepared.get(name) as Buffer)
  }

  /** Records that the session has prepared these statements again. */
  prepared(unit: readonly Buffer[]): void {
    for (const message of unit) this.#live.add(cString(message, 5).text)
  }

  /** Updates the state by a unit that has run. `parses`: number of statements that were parsed. */
  ran(unit: Buffer, parses: number): void {
    let left = parses
    for (const message of messagesOf(unit)) {
      const { type, start, end } = message
      if (type === 'Q') this.#look(cString(unit, start).text)
      if (type === 'B' && this.dirty)
        this.#lookForNames(unit.toString('latin1', start, Math.min(end, start + MAX_SEARCHED)))
      const name = statementName(unit, message)
      if (type === 'P' && name !== null) {
        this.#look(cString(unit, cString(unit, start).next).text)
        if (left-- <= 0) continue
        this.#prepared.set(name, Buffer.from(unit.subarray(start - 5, end)))
        this.#live.add(name)
      } else if (type === 'C' && name !== null) {
        this.#prepared.delete(name)
        this.#live.delete(name)
      }
    }
  }

  #look(sql: string): void {
    for (const words of statementsOf(sql)) {
      if (changesSettings(words)) {
        this.dirty = true
        this.#lookForNames(sql.slice(0, MAX_SEARCHED))
      }
      if (keepsThings(words)) this.mayHold = true
      if (words[0] === 'deallocate' || words[0] === 'discard') {
        if (words[1] === 'all') this.#prepared.clear()
        else if (words[1] === 'prepare') this.#prepared.delete(words[2] ?? '')
        else this.#prepared.delete(words[1] ?? '')
      }
    }
  }

  #lookForNames(text: string): void {
    for (const word of text.split(/[^\w.]+/)) {
      if (word.length > MAX_NAME || !/^[a-z_]\w*\.[a-z_]/i.test(word)) continue
      if (this.#names.size < MAX_NAMES) this.#names.add(word.toLowerCase())
    }
  }
}

/** Parameters of a start-up packet that are no settings: only UTF8 is supported, names are not shown. */
const NO_SETTINGS: ReadonlySet<string> = new Set([
  'user',
  'database',
  'replication',
  'options',
  'client_encoding',
  'application_name',
])
/** Words after SET whose effect ends with the transaction. */
const OF_TRANSACTION: ReadonlySet<string> = new Set(['local', 'transaction', 'constraints'])
const ADVISORY: ReadonlySet<string> = new Set([
  'pg_advisory_lock',
  'pg_advisory_lock_shared',
  'pg_try_advisory_lock',
  'pg_try_advisory_lock_shared',
])

function changesSettings(words: readonly string[]): boolean {
  const [first = '', second = ''] = words
  if (first === 'set') return !OF_TRANSACTION.has(second)
  return ['reset', 'discard', 'do', 'call', 'load'].includes(first) || words.includes('set_config')
}

function keepsThings(words: readonly string[]): boolean {
  const [first = '', second = ''] = words
  if (first === 'prepare') return second !== 'transaction'
  if (first === 'declare') return words.includes('hold')
  const temporary = words.findIndex((word) => word === 'temp' || word === 'temporary')
  if (temporary > 0 && (first === 'create' || words.includes('into')))
    return !words.join(' ').includes('on commit drop')
  return words.some((word) => ADVISORY.has(word))
}

/** The statement that a message names, or null. */
export function statementName(unit: Buffer, { type, start }: Message): string | null {
  if (type === 'P') return cString(unit, start).text
  if (type === 'B') return cString(unit, cString(unit, start).next).text
  if ((type === 'D' || type === 'C') && unit[start] === 0x53) return cString(unit, start + 1).text
  return null
}

function setting(name: string, value: string): string {
  return `select set_config(${literal(name)}, ${literal(value)}, false)`
}

/** An escape string, which means the same under each `standard_conforming_strings`. */
function literal(text: string): string {
  return `E'${text.replace(/['\\]/g, '$&$&')}'`
}
