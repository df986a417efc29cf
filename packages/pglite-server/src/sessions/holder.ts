import { message } from '../protocol/messages.ts'
import type { Client } from './client.ts'

/** Parameter that tells a client at its start who has the session: seconds, a blank, and the name of the application. */
const HELD = 'terrane.held'

/** The client that has the session now, and since when; who connects meanwhile is told. */
export class Holder {
  #client: Client | null = null
  #sinceMs = 0

  take(client: Client): void {
    if (this.#client === client) return
    this.#client = client
    this.#sinceMs = performance.now()
  }

  free(): void {
    this.#client = null
  }

  /** A ParameterStatus message; empty while no client has it. */
  get status(): Buffer {
    if (this.#client === null) return Buffer.alloc(0)
    const seconds = Math.floor((performance.now() - this.#sinceMs) / 1000)
    return message('S', Buffer.from(`${HELD}\0${seconds} ${this.#client.name}\0`))
  }
}
