import type { Upgrade } from '@terrane/service'
import type { Connection } from '../../upstream/upstream.ts'
import { MessageSizes } from './message-sizes.ts'

/** Bounds of a WebSocket. */
export interface TunnelLimits {
  /** Largest message of the caller. */
  readonly messageBytes: number
  /** Longest time in which neither end sends anything. */
  readonly silentMs: number
}

/** Passes bytes from the caller of a WebSocket to the function, no faster than the function reads them. */
export class Tunnel {
  /** Received from the caller so far. */
  bytes = 0
  readonly #upgrade: Upgrade
  readonly #connection: Connection
  readonly #sizes: MessageSizes
  readonly #onTrouble: (why: 'message_bytes' | 'silent') => void

  /** @param onTrouble called when a limit is reached; the tunnel itself ends nothing */
  constructor(
    upgrade: Upgrade,
    connection: Connection,
    { messageBytes, silentMs }: TunnelLimits,
    onTrouble: (why: 'message_bytes' | 'silent') => void,
  ) {
    const { socket, head } = upgrade
    this.#upgrade = upgrade
    this.#connection = connection
    this.#sizes = new MessageSizes(messageBytes)
    this.#onTrouble = onTrouble
    socket.setTimeout(silentMs, () => onTrouble('silent'))
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#hand(chunk))
    // A WebSocket is over once its caller has ended the connection.
    socket.on('end', () => socket.destroySoon())
    if (head.length > 0) this.#hand(head)
  }

  #hand(chunk: Buffer): void {
    const { socket } = this.#upgrade
    if (socket.destroyed) return
    this.bytes += chunk.length
    if (!this.#sizes.accept(chunk)) return this.#onTrouble('message_bytes')
    if (!this.#connection.write(chunk, () => socket.resume())) socket.pause()
  }
}
