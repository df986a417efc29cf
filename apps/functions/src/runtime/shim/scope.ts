import type { AsyncLocalStorage } from 'node:async_hooks'

/** The call that code runs for. */
export interface Scope {
  readonly requestId: string
  /** The host's number for the call; what it knows the caller's credentials by. */
  readonly call: string
  held: number
}

export type Scopes = AsyncLocalStorage<Scope>
