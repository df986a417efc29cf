import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { PGlite } from '@electric-sql/pglite'
import { SYNC, cString, errorResponse, rowsOf, simpleQuery } from './messages.ts'
import { HELD, SessionState } from './session-state.ts'

/** Request codes of the start-up phase (PostgreSQL manual, message formats). */
const SSL_REQUEST = 80877103
const GSS_REQUEST = 80877104
const CANCEL_REQUEST = 80877102
/** Longest message a client may send. */
const MAX_MESSAGE = 1 << 28

/** How long a client that says nothing may keep the others waiting, in milliseconds. */
export interface SessionLimits {
  /** With a transaction open. */
  readonly idleInTransactionMs: number
  /** With what only one session can have: temporary tables, PREPARE, cursors WITH HOLD, advisory locks. */
  readonly idleHoldingMs: number
}

const LIMITS: SessionLimits = { idleInTransactionMs: 30_000, idleHoldingMs: 5000 }

/** Messages of a client that must reach the one session of the database together. */
interface Unit {
  readonly client: Client
  readonly bytes: Buffer
  /** False when more of the same extended query is to come (it ended with Flush, not Sync). */
  readonly complete: boolean
  /** The packet that a connection begins with. */
  readonly startup?: boolean
}

/**
 * Speaks PostgreSQL's wire protocol (version 3) for a PGlite instance, to many clients that share its one session. Whole
 * units go in at once: a simple query, or everything up to Sync. So the parse of one client and the bind of another never
 * mix, and after an error the session itself skips to Sync as the protocol says. A client that has a transaction open, or
 * an extended query unfinished, keeps the session until it ends; when it goes away, its transaction is rolled back.
 *
 * Before another client's unit the session is cleaned (`DISCARD ALL`), and gets that client's own settings and prepared
 * statements ({@link SessionState}). A client with temporary tables and the like keeps it; one that keeps it and says
 * nothing while others wait is closed.
 *
 * COPY from the client is answered with an error, because the session cannot wait for more input.
 */
export class WireServer {
  private readonly db: PGlite
  private readonly server: Server
  private readonly clients = new Set<Client>()
  private readonly queue: Unit[] = []
  private readonly limits: SessionLimits
  private owner: Client | null = null
  /** Whose settings the session has. */
  private current: Client | null = null
  private running: Promise<void> | null = null
  private idleTimer: NodeJS.Timeout | undefined

  constructor(db: PGlite, limits: Partial<SessionLimits> = {}) {
    this.db = db
    this.limits = { ...LIMITS, ...limits }
    this.server = createServer((socket) => this.accept(socket))
  }

  /** Resolves to the port that it listens on, which is the one asked for unless that is 0. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen(port, host, () => resolve((this.server.address() as AddressInfo).port))
    })
  }

  async close(): Promise<void> {
    this.server.close()
    for (const client of this.clients) client.socket.destroy()
    await this.running
    clearTimeout(this.idleTimer)
  }

  private accept(socket: Socket): void {
    socket.setNoDelay(true)
    const client = new Client(socket, (bytes, complete, startup) => this.enqueue({ client, bytes, complete, startup }))
    this.clients.add(client)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.clients.delete(client)
      client.gone = true
      this.run()
    })
  }

  private enqueue(unit: Unit): void {
    this.queue.push(unit)
    this.run()
  }

  private run(): void {
    this.running ??= this.drain().finally(() => {
      this.running = null
      if (this.nextUnit() !== -1 || this.owner?.gone) this.run()
    })
  }

  private async drain(): Promise<void> {
    for (;;) {
      if (this.owner?.gone) await this.abandon()
      const index = this.nextUnit()
      if (index === -1) return
      const [unit] = this.queue.splice(index, 1)
      if (unit) await this.execute(unit)
    }
  }

  /** The oldest unit that may run now; units of clients that are gone are forgotten. */
  private nextUnit(): number {
    for (let i = this.queue.length - 1; i >= 0; i--) {
      if (this.queue[i]?.client.gone) this.queue.splice(i, 1)
    }
    if (this.owner === null) return this.queue.length > 0 ? 0 : -1
    return this.queue.findIndex((unit) => unit.client === this.owner)
  }

  private async execute(unit: Unit): Promise<void> {
    clearTimeout(this.idleTimer)
    const { client } = unit
    const { socket, session } = client
    if (this.current !== client) await this.switchTo(client)
    if (!unit.startup) await this.prepareAgain(client, unit.bytes)
    const reply = new Reply((bytes) => {
      if (!socket.destroyed) socket.write(bytes)
    })
    try {
      await this.db.runExclusive(() =>
        this.db.execProtocolRawStream(unit.bytes, { onRawData: (data) => reply.receive(data) }),
      )
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'the embedded database failed'
      socket.write(errorResponse('ERROR', 'XX000', reason))
    }
    if (unit.startup) session.started(parametersOf(unit.bytes))
    else session.ran(unit.bytes, reply.parses)
    if (unit.startup && session.restore.length > 0) await this.restore(session)
    const inTransaction = this.db.isInTransaction() || !unit.complete
    if (!inTransaction && session.mayHold) session.mayHold = await this.holds()
    if (unit.complete) reply.ready()
    this.owner = inTransaction || session.mayHold ? client : null
    if (this.owner) this.watchIdle(client, inTransaction)
  }

  /** Closes the client that has the session when it says nothing for too long while others wait. */
  private watchIdle(client: Client, inTransaction: boolean): void {
    const { idleInTransactionMs, idleHoldingMs } = this.limits
    this.idleTimer = setTimeout(
      () => {
        if (this.queue.every((unit) => unit.client === client)) return this.watchIdle(client, inTransaction)
        client.socket.end(inTransaction ? IDLE_IN_TRANSACTION : IDLE_HOLDING, () => client.socket.destroy())
      },
      inTransaction ? idleInTransactionMs : idleHoldingMs,
    ).unref()
  }

  /** Puts the settings of the client before away, cleans the session, and gives it the settings of the next. */
  private async switchTo(client: Client): Promise<void> {
    const before = this.current
    this.current = client
    if (before?.session.dirty && !before.gone) await this.remember(before.session)
    before?.session.left()
    if (before) {
      await this.ask(OWN_USER)
      await this.ask('discard all')
    }
    client.session.left()
    await this.restore(client.session)
  }

  private async restore(session: SessionState): Promise<void> {
    for (const statement of session.restore) await this.ask(statement)
  }

  private async remember(session: SessionState): Promise<void> {
    const names = session.names.map((name) => `('${name}')`).join(', ')
    const own = names === '' ? '' : `union all select name, current_setting(name, true) from (values ${names}) v (name)`
    const special = rowsOf(
      await this.ask(`select 'role', current_setting('role')
        union all select 'session_authorization', current_setting('session_authorization') ${own}`),
    )
    // Not everyone may see every setting.
    await this.ask(OWN_USER)
    const listed = rowsOf(await this.ask(`select name, setting from pg_settings where source = 'session'`))
    const known = new Set(listed.map(([name]) => name))
    const settings = [...listed, ...special.filter(([name]) => !known.has(name as string))]
    session.remember(settings.filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== ''))
  }

  /** Prepares what a unit uses and the session has forgotten. */
  private async prepareAgain({ session }: Client, unit: Buffer): Promise<void> {
    const missing = session.missing(unit)
    if (missing.length === 0) return
    // In a transaction that has failed nothing can be prepared, and nothing is run either.
    await this.silently(Buffer.concat([...missing, SYNC]))
    session.prepared(missing)
  }

  /** Whether the session has what cannot be put away. */
  private async holds(): Promise<boolean> {
    return rowsOf(await this.ask(HELD))[0]?.[0] === 't'
  }

  private ask(sql: string): Promise<Buffer> {
    return this.silently(simpleQuery(sql))
  }

  /** Sends messages of the server's own; nobody hears the answer, which is returned. */
  private async silently(bytes: Buffer): Promise<Buffer> {
    const answer: Buffer[] = []
    await this.db
      .runExclusive(() =>
        this.db.execProtocolRawStream(bytes, { onRawData: (data) => void answer.push(Buffer.from(data)) }),
      )
      .catch(ignore)
    return Buffer.concat(answer)
  }

  /** Ends what a client that is gone has left open. */
  private async abandon(): Promise<void> {
    clearTimeout(this.idleTimer)
    this.owner = null
    await this.silently(ROLLBACK)
  }
}

/** One connection: cuts the byte stream into units. */
class Client {
  gone = false
  readonly socket: Socket
  readonly session = new SessionState()
  private readonly onUnit: (bytes: Buffer, complete: boolean, startup: boolean) => void
  private buffer: Buffer = Buffer.alloc(0)
  /** Bytes of chunks that wait to be joined: a large message is joined once, when it is whole. */
  private chunks: Buffer[] = []
  private waiting = 0
  private wanted = 8
  private started = false
  private unit: Buffer[] = []
  private refusing = false

  constructor(socket: Socket, onUnit: (bytes: Buffer, complete: boolean, startup: boolean) => void) {
    this.socket = socket
    this.onUnit = onUnit
    socket.on('data', (chunk: Buffer) => this.receive(chunk))
  }

  private receive(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.waiting += chunk.length
    if (this.buffer.length + this.waiting < this.wanted) return
    this.buffer = Buffer.concat([this.buffer, ...this.chunks])
    this.chunks = []
    this.waiting = 0
    let at = 0
    while (!this.socket.destroyed) {
      const used = this.started ? this.message(at) : this.startup(at)
      if (used === 0) break
      at += used
    }
    this.buffer = this.buffer.subarray(at)
  }

  /** Handles one start-up packet at the offset; returns its length, or 0 when it is not whole. */
  private startup(at: number): number {
    const left = this.buffer.length - at
    this.wanted = 8
    if (left < 8) return 0
    const length = this.buffer.readInt32BE(at)
    if (length < 8 || length > 10_000) {
      this.socket.destroy()
      return 0
    }
    this.wanted = length
    if (left < length) return 0
    const code = this.buffer.readInt32BE(at + 4)
    if (code === SSL_REQUEST || code === GSS_REQUEST) this.socket.write('N')
    else if (code === CANCEL_REQUEST) this.socket.destroy()
    else {
      this.started = true
      this.wanted = 5
      this.onUnit(Buffer.from(this.buffer.subarray(at, at + length)), true, true)
    }
    return length
  }

  /** Handles one message at the offset; returns its length, or 0 when it is not whole. */
  private message(at: number): number {
    const left = this.buffer.length - at
    this.wanted = 5
    if (left < 5) return 0
    const length = this.buffer.readInt32BE(at + 1) + 1
    if (length < 5 || length > MAX_MESSAGE) {
      this.socket.destroy()
      return 0
    }
    this.wanted = length
    if (left < length) return 0
    this.collect(String.fromCharCode(this.buffer[at] as number), this.buffer.subarray(at, at + length))
    return length
  }

  private collect(type: string, message: Buffer): void {
    switch (type) {
      case 'X':
        this.socket.end()
        return
      case 'Q':
        if (COPY_IN.test(text(message, 5))) {
          this.refuseCopy()
          this.socket.write(READY)
        } else this.onUnit(Buffer.concat([...this.unit.splice(0), message]), true, false)
        return
      case 'P':
        // Name and statement, each ended by NUL.
        if (COPY_IN.test(text(message, message.indexOf(0, 5) + 1))) {
          this.refuseCopy()
          this.refusing = true
        }
        if (!this.refusing) this.unit.push(Buffer.from(message))
        return
      case 'S':
      case 'H':
        if (this.refusing) {
          this.unit = []
          if (type === 'S') {
            this.refusing = false
            this.socket.write(READY)
          }
        } else this.onUnit(Buffer.concat([...this.unit.splice(0), message]), type === 'S', false)
        return
      case 'd':
      case 'c':
      case 'f':
        return // What is left of a COPY that was refused.
      default:
        if (!this.refusing) this.unit.push(Buffer.from(message))
    }
  }

  private refuseCopy(): void {
    this.socket.write(
      errorResponse('ERROR', '0A000', 'COPY FROM STDIN does not work on the embedded database; use INSERT'),
    )
  }
}

/**
 * Passes the answer to a unit on. After an error PGlite says ReadyForQuery at once and again at Sync; a client that hears
 * it twice loses count, so it is held back and said once, at the end.
 */
class Reply {
  private readonly write: (bytes: Buffer) => void
  private rest: Buffer = Buffer.alloc(0)
  private lastReady: Buffer = READY
  /** Statements that were parsed. */
  parses = 0

  constructor(write: (bytes: Buffer) => void) {
    this.write = write
  }

  receive(data: Uint8Array): void {
    // The bytes lie in the database's own memory and are gone after the call.
    const bytes = Buffer.concat([this.rest, data])
    let from = 0
    let at = 0
    while (at + 5 <= bytes.length) {
      const end = at + 1 + bytes.readInt32BE(at + 1)
      if (end > bytes.length) break
      if (bytes[at] === PARSE_COMPLETE) this.parses++
      if (bytes[at] === READY_TYPE) {
        if (at > from) this.write(bytes.subarray(from, at))
        this.lastReady = bytes.subarray(at, end)
        from = end
      }
      at = end
    }
    if (at > from) this.write(bytes.subarray(from, at))
    this.rest = bytes.subarray(at)
  }

  ready(): void {
    this.write(this.lastReady)
  }
}

const READY_TYPE = 0x5a
const PARSE_COMPLETE = 0x31
const COPY_IN = /^\s*copy\b[^;]*\bfrom\s+stdin\b/i
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
/** Sync, because after an error the session hears nothing else, and a rollback. */
const ROLLBACK = Buffer.concat([SYNC, simpleQuery('rollback')])
/** PGlite's only user. There is no way back to it by RESET or DISCARD, as on a server that asks who connects. */
const OWN_USER = 'set session authorization postgres'
const IDLE_IN_TRANSACTION = errorResponse(
  'FATAL',
  '25P03',
  'terminating connection due to idle-in-transaction timeout: on the embedded database an open transaction stops all others',
)
const IDLE_HOLDING = errorResponse(
  'FATAL',
  '57P05',
  'terminating connection due to idle-session timeout: on the embedded database temporary tables, PREPARE, cursors WITH HOLD and advisory locks stop all others',
)

/** Names and values of a start-up packet. */
function parametersOf(packet: Buffer): Map<string, string> {
  const parameters = new Map<string, string>()
  for (let at = 8; at < packet.length && packet[at] !== 0;) {
    const name = cString(packet, at)
    const value = cString(packet, name.next)
    parameters.set(name.text, value.text)
    at = value.next
  }
  return parameters
}

function text(message: Buffer, start: number): string {
  return message.toString('latin1', start, Math.min(message.length, start + 10_000))
}

function ignore(): void {}
