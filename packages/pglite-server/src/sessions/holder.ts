import { message } from '../protocol/messages.ts'
import type { Client } from './client.ts'

/** Parameter that tells a client at its start who has the session: seconds, a blank, and the name of the application. */
const HELD = 'terrane.held'
const MAX_NAME = 63

/** The client that has the session now, and since when; new connections receive this report. */
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
    // As PostgreSQL shows names of applications: others print them.
    const name = this.#client.name.replaceAll(/[^ -~]/g, '?').slice(0, MAX_NAME)
    return message('S', Buffer.from(`${HELD}\0${seconds} ${name}\0`))
  }
}
