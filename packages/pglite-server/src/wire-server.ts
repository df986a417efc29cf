import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Client, type Unit } from './sessions/client.ts'
import type { CopyIn } from './protocol/copy-in.ts'
import type { Engine } from './engine/engine.ts'
import { Execution } from './sessions/execution.ts'
import type { Maintenance } from './sessions/maintenance.ts'
import { Holder } from './sessions/holder.ts'
import { errorResponse, messagesOf, READY } from './protocol/messages.ts'
import { CANCELLED, Reply } from './protocol/reply.ts'
import { answerTo, errorIn, SharedSession } from './sessions/shared-session.ts'
import { greeting, OTHER_VERSION, readStartUp, statusesIn, type StartUp } from './protocol/start-up.ts'
import { LIMITS, SessionQueue, type Keeping, type SessionLimits } from './sessions/session-queue.ts'

export interface WireServerOptions {
  /** Starts an engine: the first one, or the successor of a lost one. */
  readonly open: (again: boolean) => Promise<Engine>
  /** True when commits survive the end of the engine. */
  readonly persistent: boolean
  readonly limits?: Partial<SessionLimits>
  readonly maintenance?: Maintenance | undefined
}

/**
 * Speaks PostgreSQL's wire protocol (version 3) for an engine, to many clients that share its one session. Whole
 * units go in at once: a simple query, or everything up to Sync. So the parse of one client and the bind of another never
 * mix, and after an error the session itself skips to Sync as the protocol requires. A client with an open transaction,
 * an unfinished extended query, temporary tables or the like keeps the session ({@link SessionQueue}); when it
 * disconnects, its transaction is rolled back.
 *
 * When the engine ends, its clients get 57P01 and are closed, and another engine is started on the same data. New clients
 * wait for it.
 */
export class WireServer {
  readonly #options: WireServerOptions
  readonly #limits: SessionLimits
  readonly #server: Server
  readonly #clients = new Map<number, Client>()
  readonly #queue: SessionQueue
  readonly #holder = new Holder()
  /** Null while no engine runs. */
  #session: SharedSession | null = null
  #statuses: Buffer = Buffer.alloc(0)
  #execution: Execution | null = null
  #draining: Promise<void> | null = null
  #opening: Promise<void> | null = null
  #maintenanceTimer: NodeJS.Timeout | undefined
  #isClosing = false

  constructor(options: WireServerOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#server = createServer((socket) => this.#accept(socket))
    this.#queue = new SessionQueue(this.#limits, (client, keeping) => end(client, IDLE[keeping]))
  }

  /** Starts the engine. Resolves to the port that the server listens on: the requested one, or a free one for 0. */
  async listen(port: number, host: string): Promise<number> {
    await this.#begin(false)
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port))
    })
  }

  /** The whole data folder as bytes. */
  async snapshot(): Promise<Uint8Array<ArrayBuffer>> {
    await this.#opening
    if (!this.#session) throw new Error('the engine has ended')
    return this.#session.engine.snapshot()
  }

  async close(): Promise<void> {
    await (await this.release())?.close()
  }

  /** Closes the server and keeps the engine, whose running statement is cancelled. Null when the engine has ended. */
  async release(): Promise<Engine | null> {
    this.#isClosing = true
    clearTimeout(this.#maintenanceTimer)
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const client of this.#clients.values()) client.socket.destroy()
    await this.#opening
    await this.#draining
    await closed
    this.#queue.clear()
    return this.#session?.engine ?? null
  }

  async #begin(again: boolean): Promise<void> {
    const session = await SharedSession.open(await this.#options.open(again))
    this.#session = session
    this.#statuses = session.statuses
    this.#run()
  }

  #accept(socket: Socket): void {
    socket.setNoDelay(true)
    const client: Client = new Client(socket, {
      onStartUp: (packet) => this.#startUp(client, packet),
      onUnit: (unit) => {
        this.#queue.add(unit)
        this.#run()
      },
      onCancel: (processId, secret) => this.#cancel(processId, secret),
    })
    this.#clients.set(client.processId, client)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#clients.delete(client.processId)
      client.gone = true
      if (this.#execution?.client === client) this.#execution.stop('user request')
      this.#run()
    })
  }

  /** A client without settings is greeted at once. Others wait for their turn, because the session checks the settings. */
  #startUp(client: Client, packet: Buffer): void {
    const startUp = readStartUp(packet)
    if (!startUp) return end(client, OTHER_VERSION)
    if (!this.#session && !this.#opening) return end(client, ENGINE_GONE)
    client.session.started(startUp.parameters)
    client.name = startUp.parameters.get('application_name') || client.name
    const statuses = Buffer.concat([this.#statuses, this.#holder.status])
    if (client.session.restore.length === 0) client.socket.write(greeting(startUp, statuses, client.key))
    else this.#queue.add({ client, bytes: packet, complete: true, startUp })
    this.#run()
  }

  #cancel(processId: number, secret: number): void {
    const client = this.#clients.get(processId)
    if (client?.secret !== secret) return
    if (this.#execution?.client === client) return this.#execution.stop('user request')
    if (client.copy?.isAsked) return client.copy.cancel()
    // Its unit waits for its turn.
    const unit = this.#queue.withdraw(client)
    unit?.asks?.onRefused()
    if (unit) client.socket.write(Buffer.concat([CANCELLED_WAITING, READY]))
  }

  #run(): void {
    if (this.#draining || !this.#session) return
    this.#draining = this.#drain(this.#session)
      .catch((error: unknown) => this.#lose(error))
      .finally(() => {
        this.#draining = null
        // A unit may have come while it ended.
        if (this.#queue.isDue) this.#run()
        else this.#waitForMaintenance()
      })
  }

  #waitForMaintenance(): void {
    const dueInMs = this.#options.maintenance?.dueInMs ?? Infinity
    clearTimeout(this.#maintenanceTimer)
    if (this.#isClosing || dueInMs === Infinity || !this.#queue.isFree) return
    this.#maintenanceTimer = setTimeout(() => this.#run(), dueInMs).unref()
  }

  async #drain(session: SharedSession): Promise<void> {
    for (;;) {
      if (this.#queue.takeAbandoned()) await session.rollback()
      if (this.#queue.isFree) this.#holder.free()
      const isMaintained = await this.#maintain(session)
      const unit = this.#queue.take()
      if (unit) await this.#serve(session, unit)
      else if (!isMaintained) return
    }
  }

  async #serve(session: SharedSession, unit: Unit): Promise<void> {
    if (unit.startUp) return this.#greet(session, unit.client, unit.startUp)
    if (unit.asks) return this.#answer(session, unit.client, unit.asks)
    await this.#execute(session, unit)
    this.#options.maintenance?.worked()
  }

  /** Runs the maintenance statement that is due, unless a client keeps the session. Returns whether one was due. */
  async #maintain(session: SharedSession): Promise<boolean> {
    const { maintenance } = this.#options
    if (!maintenance || maintenance.dueInMs > 0 || !this.#queue.isFree || this.#isClosing) return false
    await maintenance.step(session, () => (this.#isClosing ? 'the stop' : this.#queue.isDue ? 'a client' : 'none'))
    return true
  }

  async #greet(session: SharedSession, client: Client, startUp: StartUp): Promise<void> {
    const said = await session.enter(client)
    const error = errorIn(said)
    if (error) end(client, errorResponse('FATAL', error.get('C') ?? 'XX000', error.get('M') ?? ''))
    else client.socket.write(greeting(startUp, Buffer.concat([session.statuses, statusesIn(said)]), client.key))
  }

  async #execute(session: SharedSession, unit: Unit): Promise<void> {
    const { client, copies } = unit
    const state = client.session
    const head = copies?.head ?? unit.bytes
    const write = (bytes: Buffer, taken: () => void) => hand(client.socket, bytes, taken)
    const reply = new Reply({ write, copying: copies !== undefined })
    const stuckMs = this.#options.persistent ? this.#limits.stuckMs : Infinity
    const execution = new Execution(session.engine, client, reply, stuckMs)
    this.#execution = execution
    this.#holder.take(client)
    await session.enter(client)
    await session.prepareAgain(client, head)
    const isOpen = await execution.run(unit.bytes)
    this.#execution = null
    state.ran(head, reply.parses)
    if (reply.isCutShort && isOpen) {
      await session.ask(FAIL)
      reply.failed()
    }
    const inTransaction = isOpen || !unit.complete
    if (!inTransaction && state.mayHold) state.mayHold = await session.holds()
    if (unit.complete) reply.ready()
    this.#queue.keep(client, inTransaction ? 'a transaction' : state.mayHold ? 'things of its own' : null)
  }

  /** Asks the session whether a COPY may begin, and answers its client. */
  async #answer(session: SharedSession, client: Client, copy: CopyIn): Promise<void> {
    const isInside = this.#queue.keepingOf(client) === 'a transaction'
    await session.enter(client)
    if (isInside) await session.ask(SAVEPOINT)
    await session.prepareAgain(client, copy.head)
    const answer = await answerTo(session.engine, copy.question())
    const messages = [...messagesOf(answer)].map(({ type, start, end: stop }) => ({
      type,
      bytes: answer.subarray(start - 5, stop),
    }))
    const begins = messages.find(({ type }) => type === 'G')
    if (begins) {
      // Undoes the error of the COPY that was broken off.
      if (isInside) await session.ask(BACK_TO_SAVEPOINT)
      client.socket.write(Buffer.concat([copy.preamble(), begins.bytes]))
    } else {
      copy.onRefused()
      client.socket.write(Buffer.concat(messages.map(({ bytes }) => bytes)))
    }
    this.#queue.keep(client, isInside ? 'a transaction' : client.session.mayHold ? 'things of its own' : null)
  }

  /** Closes all clients, because their session has ended with the engine. */
  #lose(cause: unknown): void {
    const execution = this.#execution
    this.#execution = null
    this.#session = null
    this.#queue.clear()
    this.#holder.free()
    const why = cause instanceof Error ? cause.message : String(cause)
    const lost = errorResponse('FATAL', '57P01', `terminating connection because the embedded database ended: ${why}`)
    for (const client of this.#clients.values()) {
      // An error cannot be sent within a message.
      if (execution?.client === client && execution.reply.isWithinMessage) client.socket.destroy()
      else end(client, lost)
    }
    if (this.#isClosing || !this.#options.persistent) return
    this.#opening = this.#begin(true).finally(() => {
      this.#opening = null
    })
  }
}

/** Makes a transaction fail. */
const FAIL = 'select 1 / 0'
const SAVEPOINT = 'savepoint terrane_copy'
const BACK_TO_SAVEPOINT = 'rollback to terrane_copy; release terrane_copy'
const CANCELLED_WAITING = errorResponse('ERROR', CANCELLED, 'canceling statement due to user request')
const ENGINE_GONE = errorResponse('FATAL', '57P03', 'the embedded database has ended, and its data were in memory only')
const IDLE: Readonly<Record<Keeping, Buffer>> = {
  'a transaction': errorResponse(
    'FATAL',
    '25P03',
    'terminating connection due to idle-in-transaction timeout: on the embedded database an open transaction stops all others',
  ),
  'things of its own': errorResponse(
    'FATAL',
    '57P05',
    'terminating connection due to idle-session timeout: on the embedded database temporary tables, PREPARE, cursors WITH HOLD and advisory locks stop all others',
  ),
}

/** Sends a last message to a client and ignores its further messages. */
function end(client: Client, said: Buffer): void {
  client.gone = true
  client.socket.end(said, () => client.socket.destroy())
}

/** Sends bytes to a client. Bytes for a disconnected client count as taken. */
function hand(socket: Socket, bytes: Buffer, taken: () => void): void {
  if (socket.destroyed) taken()
  else socket.write(bytes, taken)
}
