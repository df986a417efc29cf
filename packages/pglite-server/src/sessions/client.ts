import { randomInt } from 'node:crypto'
import type { Socket } from 'node:net'
import { CopyIn, copiesIn } from '../protocol/copy-in.ts'
import { cString, errorResponse, keyData, READY } from '../protocol/messages.ts'
import { SessionState, statementName } from './session-state.ts'
import type { StartUp } from '../protocol/start-up.ts'

/** Request codes of the start-up phase (PostgreSQL manual, message formats). */
const SSL_REQUEST = 80877103
const GSS_REQUEST = 80877104
const CANCEL_REQUEST = 80877102
/** Maximum bytes of a client's message. */
const MAX_MESSAGE = 1 << 28

/** Messages of a client that must reach the session together. */
export interface Unit {
  readonly client: Client
  readonly bytes: Buffer
  /** False when more of the same extended query is to come (it ended with Flush, not Sync). */
  readonly complete: boolean
  /** A connection begins, with settings of its own. */
  readonly startUp?: StartUp
  /** Asks whether a COPY may begin. */
  readonly asks?: CopyIn
  /** A complete COPY, whose data are in `bytes`. */
  readonly copies?: CopyIn
}

/** Events of a connection. */
export interface ClientEvents {
  /** The packet that a connection begins with. */
  readonly onStartUp: (packet: Buffer) => void
  readonly onUnit: (unit: Unit) => void
  /** A cancel request with the key of a client. */
  readonly onCancel: (processId: number, secret: number) => void
}

let lastProcessId = 0

/** One connection: cuts the byte stream into units. */
export class Client {
  gone = false
  /** Name of its application. */
  name = 'a client without a name'
  readonly socket: Socket
  readonly session = new SessionState()
  readonly processId = ++lastProcessId
  readonly secret = randomInt(2 ** 31)
  readonly #events: ClientEvents
  #buffer: Buffer = Buffer.alloc(0)
  /** Chunks that are not joined yet: a large message is joined once, when it is whole. */
  #chunks: Buffer[] = []
  #waiting = 0
  #wanted = 8
  #started = false
  #unit: Buffer[] = []
  /** The COPY to which the current messages belong. */
  #copy: CopyIn | null = null
  /** Names of prepared statements that are a COPY. */
  readonly #copies = new Map<string, string>()
  /** An extended query was refused: messages until Sync are skipped. */
  #skipping = false

  constructor(socket: Socket, events: ClientEvents) {
    this.socket = socket
    this.#events = events
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
  }

  /** The COPY that waits for its data. */
  get copy(): CopyIn | null {
    return this.#copy
  }

  get key(): Buffer {
    return keyData(this.processId, this.secret)
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#waiting += chunk.length
    if (this.#buffer.length + this.#waiting < this.#wanted) return
    this.#buffer = Buffer.concat([this.#buffer, ...this.#chunks])
    this.#chunks = []
    this.#waiting = 0
    let at = 0
    while (!this.socket.destroyed) {
      const used = this.#started ? this.#message(at) : this.#startup(at)
      if (used === 0) break
      at += used
    }
    this.#buffer = this.#buffer.subarray(at)
  }

  /** Handles one start-up packet at the offset; returns its length, or 0 when it is not whole. */
  #startup(at: number): number {
    const left = this.#buffer.length - at
    this.#wanted = 8
    if (left < 8) return 0
    const length = this.#buffer.readInt32BE(at)
    if (length < 8 || length > 10_000) {
      this.socket.destroy()
      return 0
    }
    this.#wanted = length
    if (left < length) return 0
    const code = this.#buffer.readInt32BE(at + 4)
    if (code === SSL_REQUEST || code === GSS_REQUEST) this.socket.write('N')
    else if (code === CANCEL_REQUEST) {
      if (length === 16) this.#events.onCancel(this.#buffer.readInt32BE(at + 8), this.#buffer.readInt32BE(at + 12))
      this.socket.end()
    } else {
      this.#started = true
      this.#wanted = 5
      this.#events.onStartUp(Buffer.from(this.#buffer.subarray(at, at + length)))
    }
    return length
  }

  /** Handles one message at the offset; returns its length, or 0 when it is not whole. */
  #message(at: number): number {
    const left = this.#buffer.length - at
    this.#wanted = 5
    if (left < 5) return 0
    const length = this.#buffer.readInt32BE(at + 1) + 1
    if (length < 5 || length > MAX_MESSAGE) {
      this.socket.destroy()
      return 0
    }
    this.#wanted = length
    if (left < length) return 0
    this.#collect(String.fromCharCode(this.#buffer[at] as number), this.#buffer.subarray(at, at + length))
    return length
  }

  #collect(type: string, message: Buffer): void {
    switch (type) {
      case 'X':
        this.socket.end()
        return
      case 'Q':
        return this.#query(message)
      case 'S':
      case 'H':
        return this.#sync(type, message)
      case 'd':
        this.#copy?.add(message)
        return // Or the rest of a refused COPY.
      case 'c':
      case 'f':
        if (!this.#copy) return
        this.#copy.end(message)
        if (!this.#copy.extended) this.#load(this.#copy)
        return
      default:
        if (!this.#skipping) this.#extended(type, Buffer.from(message))
    }
  }

  #query(message: Buffer): void {
    const { text } = cString(message, 5)
    const copies = copiesIn(text)
    this.#copy = null
    if (copies === 'alone') this.#ask(new CopyIn(text, Buffer.from(message), false))
    else if (copies === 'among others') this.socket.write(Buffer.concat([AMONG_OTHERS, READY]))
    else this.#send(Buffer.concat([...this.#unit.splice(0), message]), true)
  }

  #extended(type: string, message: Buffer): void {
    const name = statementName(message, { type, start: 5, end: message.length })
    if (type === 'P' && name !== null) {
      const { text } = cString(message, cString(message, 5).next)
      const copies = copiesIn(text)
      if (copies === 'among others') {
        this.socket.write(AMONG_OTHERS)
        this.#unit = []
        this.#skipping = true
        return
      }
      if (copies === 'alone') this.#copies.set(name, text)
      else this.#copies.delete(name)
    }
    this.#unit.push(message)
    const copied = type === 'B' && name !== null ? this.#copies.get(name) : undefined
    if (copied !== undefined) this.#copy = new CopyIn(copied, null, true)
  }

  #sync(type: 'S' | 'H', message: Buffer): void {
    if (this.#skipping) {
      if (type === 'H') return
      this.#skipping = false
      this.socket.write(READY)
      return
    }
    const copy = this.#copy
    // A server ignores Flush and Sync while a COPY waits for data.
    if (copy?.isAsked) {
      if (type === 'S' && copy.isEnded) this.#load(copy)
      return
    }
    const unit = this.#unit.splice(0)
    if (copy) {
      copy.head = Buffer.concat(unit)
      this.#ask(copy)
    } else this.#send(Buffer.concat([...unit, message]), type === 'S')
  }

  #ask(copy: CopyIn): void {
    this.#copy = copy
    copy.isAsked = true
    copy.onRefused = () => {
      if (this.#copy === copy) this.#copy = null
    }
    this.#events.onUnit({ client: this, bytes: copy.question(), complete: true, asks: copy })
  }

  #load(copy: CopyIn): void {
    this.#copy = null
    this.#events.onUnit({ client: this, bytes: copy.whole(), complete: true, copies: copy })
  }

  #send(bytes: Buffer, complete: boolean): void {
    this.#events.onUnit({ client: this, bytes, complete })
  }
}

const AMONG_OTHERS = errorResponse(
  'ERROR',
  '0A000',
  'COPY FROM STDIN must be the only statement of its query on the embedded database',
)
