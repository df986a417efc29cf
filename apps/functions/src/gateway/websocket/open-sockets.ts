import type { Socket } from 'node:net'
import type { Policy } from '../../policy.ts'

/** The WebSockets that are open, by function. */
export class OpenSockets {
  readonly #open = new Map<string, Set<Socket>>()
  #isClosed = false

  /**
   * Counts a WebSocket until its connection closes; false when the function has its maximum of them, or the host is
   * shutting down.
   */
  add(key: string, most: number, socket: Socket): boolean {
    const open = this.#open.get(key) ?? new Set()
    if (this.#isClosed || open.size >= most) return false
    this.#open.set(key, open.add(socket))
    socket.once('close', () => {
      open.delete(socket)
      if (open.size === 0 && this.#open.get(key) === open) this.#open.delete(key)
    })
    return true
  }

  /** Closes all WebSockets and refuses new ones. */
  close(): void {
    this.#isClosed = true
    for (const open of this.#open.values()) for (const socket of open) socket.destroy()
  }
}

/**
 * Maximum number of WebSockets of a function on this host: half of its capacity, so that the rest stays free for short
 * requests.
 */
export function mostSockets({ concurrency, max }: Policy): number {
  return Math.max(1, Math.floor((concurrency * max) / 2))
}
