import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Client, type Unit } from './connection.ts'
import type { CopyIn } from './copy-in.ts'
import type { Engine } from './engine.ts'
import { cString, errorResponse, messagesOf, READY, rowsOf, simpleQuery, SYNC } from './messages.ts'
import { CANCELLED, Reply, type StopReason } from './reply.ts'
import { HELD, type SessionState } from './session-state.ts'

/** How long a client that says nothing may keep the others waiting, in milliseconds. */
export interface SessionLimits {
  /** With a transaction open. */
  readonly idleInTransactionMs: number
  /** With what only one session can have: temporary tables, PREPARE, cursors WITH HOLD, advisory locks. */
  readonly idleHoldingMs: number
}

const LIMITS: SessionLimits = { idleInTransactionMs: 30_000, idleHoldingMs: 5000 }
/** How often a statement that runs is looked after. */
const WATCH_MS = 20
/** How long a statement that was stopped may go on before the engine itself is given up. */
const STUCK_MS = 10_000

/** The unit that runs. */
interface Running {
  readonly client: Client
  readonly reply: Reply
  /** When its statement of now began. */
  since: number
  completed: number
  stoppedAt: number
}

/**
 * Speaks PostgreSQL's wire protocol (version 3) for an engine, to many clients that share its one session. Whole
 * units go in at once: a simple query, or everything up to Sync. So the parse of one client and the bind of another never
 * mix, and after an error the session itself skips to Sync as the protocol says. A client that has a transaction open, or
 * an extended query unfinished, keeps the session until it ends; when it goes away, its transaction is rolled back.
 *
 * Before another client's unit the session is cleaned (`DISCARD ALL`), and gets that client's own settings and prepared
 * statements ({@link SessionState}). A client with temporary tables and the like keeps it; one that keeps it and says
 * nothing while others wait is closed.
 *
 * What runs is interrupted when its `statement_timeout` is over, when someone shows the key of its client, and when its
 * client has gone.
 */
export class WireServer {
  private readonly engine: Engine
  private readonly server: Server
  private readonly clients = new Map<number, Client>()
  private readonly queue: Unit[] = []
  private readonly limits: SessionLimits
  private readonly onStuck: () => void
  private owner: Client | null = null
  /** Whose settings the session has. */
  private current: Client | null = null
  private running: Running | null = null
  private draining: Promise<void> | null = null
  private idleTimer: NodeJS.Timeout | undefined
  private closed = false

  /** @param onStuck called when a statement does not end though it was stopped long ago */
  constructor(engine: Engine, limits: Partial<SessionLimits> = {}, onStuck: () => void = ignore) {
    this.engine = engine
    this.limits = { ...LIMITS, ...limits }
    this.onStuck = onStuck
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
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    for (const client of this.clients.values()) client.socket.destroy()
    await this.draining
    await closed
    this.closed = true
    clearTimeout(this.idleTimer)
  }

  private accept(socket: Socket): void {
    socket.setNoDelay(true)
    const client: Client = new Client(socket, {
      onUnit: (unit) => this.enqueue(unit),
      onCancel: (processId, secret) => this.cancel(processId, secret),
    })
    this.clients.set(client.processId, client)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.clients.delete(client.processId)
      client.gone = true
      if (this.running?.client === client) this.stop(this.running, 'user request')
      this.run()
    })
  }

  private cancel(processId: number, secret: number): void {
    const client = this.clients.get(processId)
    if (client?.secret !== secret) return
    if (this.running?.client === client) return this.stop(this.running, 'user request')
    // It waits for others: to its client it runs.
    const waiting = this.queue.findIndex((unit) => unit.client === client && unit.complete && this.owner !== client)
    const [unit] = waiting === -1 ? [] : this.queue.splice(waiting, 1)
    unit?.asks?.onRefused()
    if (unit) client.socket.write(Buffer.concat([CANCELLED_WAITING, READY]))
  }

  private stop(running: Running, reason: StopReason): void {
    running.reply.stopped ??= reason
    running.stoppedAt ||= performance.now()
    this.engine.interrupt()
  }

  private enqueue(unit: Unit): void {
    this.queue.push(unit)
    this.run()
  }

  private run(): void {
    this.draining ??= this.drain()
      .catch(() => this.lose())
      .finally(() => {
        this.draining = null
        if (!this.closed && (this.nextUnit() !== -1 || this.owner?.gone)) this.run()
      })
  }

  /** The engine has ended: nothing that clients believe of their sessions holds any more. */
  private lose(): void {
    this.closed = true
    this.queue.length = 0
    for (const client of this.clients.values()) client.socket.end(ENGINE_LOST, () => client.socket.destroy())
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
    const { client, asks, copies } = unit
    const { session } = client
    if (this.current !== client) await this.switchTo(client)
    if (asks) return this.answer(client, asks)
    const head = copies?.head ?? unit.bytes
    if (!unit.startup) await this.prepareAgain(client, head)
    const reply = new Reply({
      write: (bytes, taken) => write(client.socket, bytes, taken),
      copying: copies !== undefined,
      ...(unit.startup && { key: client.key }),
    })
    const ended = await this.watched(client, reply, unit.bytes)
    if (ended.failure !== null) reply.fail('XX000', ended.failure)
    if (unit.startup) session.started(parametersOf(unit.bytes))
    else session.ran(head, reply.parses)
    if (unit.startup && session.restore.length > 0) await this.restore(session)
    if (reply.isCutShort && ended.inTransaction) {
      await this.ask(FAIL)
      reply.failed()
    }
    const inTransaction = ended.inTransaction || !unit.complete
    if (!inTransaction && session.mayHold) session.mayHold = await this.holds()
    if (unit.complete) reply.ready()
    this.keep(client, inTransaction)
  }

  /** Runs a unit of a client, and ends what takes too long or nobody waits for. */
  private async watched(client: Client, reply: Reply, bytes: Buffer) {
    const running: Running = { client, reply, since: performance.now(), completed: 0, stoppedAt: 0 }
    this.running = running
    const watch = setInterval(() => this.look(running), WATCH_MS)
    try {
      return await this.engine.run(bytes, (data, taken) => reply.receive(data, taken))
    } finally {
      clearInterval(watch)
      this.running = null
    }
  }

  private look(running: Running): void {
    const { reply, client } = running
    const now = performance.now()
    if (reply.completed > running.completed) {
      running.completed = reply.completed
      running.since = now
    }
    if (reply.stopped) {
      this.engine.interrupt()
      if (now - running.stoppedAt <= STUCK_MS) return
      running.stoppedAt = Infinity
      this.onStuck()
      return
    }
    const timeoutMs = this.engine.statementTimeoutMs
    if (timeoutMs > 0 && now - running.since >= timeoutMs) this.stop(running, 'statement timeout')
    else if (client.gone) this.stop(running, 'user request')
  }

  /** Asks the session whether a COPY may begin, and tells its client. */
  private async answer(client: Client, copy: CopyIn): Promise<void> {
    const isInside = this.owner === client
    if (isInside) await this.ask(SAVEPOINT)
    await this.prepareAgain(client, copy.head)
    const answer = await this.silently(copy.question())
    const messages = [...messagesOf(answer)].map(({ type, start, end }) => ({
      type,
      bytes: answer.subarray(start - 5, end),
    }))
    const begins = messages.find(({ type }) => type === 'G')
    if (begins) {
      // The savepoint undoes that it was broken off.
      if (isInside) await this.ask(BACK_TO_SAVEPOINT)
      client.socket.write(Buffer.concat([copy.preamble(), begins.bytes]))
    } else {
      copy.onRefused()
      client.socket.write(Buffer.concat(messages.map(({ bytes }) => bytes)))
    }
    this.keep(client, isInside)
  }

  /** Whose the session is from now on. */
  private keep(client: Client, inTransaction: boolean): void {
    this.owner = inTransaction || client.session.mayHold ? client : null
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
    await this.engine.run(bytes, (data, taken) => {
      answer.push(data)
      taken()
    })
    return Buffer.concat(answer)
  }

  /** Ends what a client that is gone has left open. */
  private async abandon(): Promise<void> {
    clearTimeout(this.idleTimer)
    this.owner = null
    await this.silently(ROLLBACK)
  }
}

/** Sync, because after an error the session hears nothing else, and a rollback. */
const ROLLBACK = Buffer.concat([SYNC, simpleQuery('rollback')])
/** Has a transaction fail. */
const FAIL = 'select 1 / 0'
const SAVEPOINT = 'savepoint terrane_copy'
const BACK_TO_SAVEPOINT = 'rollback to terrane_copy; release terrane_copy'
/** PGlite's only user. There is no way back to it by RESET or DISCARD, as on a server that asks who connects. */
const OWN_USER = 'set session authorization postgres'
const CANCELLED_WAITING = errorResponse('ERROR', CANCELLED, 'canceling statement due to user request')
const ENGINE_LOST = errorResponse('FATAL', '57P01', 'terminating connection because the embedded database starts again')
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

/** Hands bytes to a client; one that has gone takes everything. */
function write(socket: Socket, bytes: Buffer, taken: () => void): void {
  if (socket.destroyed) taken()
  else socket.write(bytes, taken)
}

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

function ignore(): void {}
