import type { AsyncLocalStorage } from 'node:async_hooks'

/** The call that code runs for. */
export interface Scope {
  readonly requestId: string
  /** The host's number for the call, by which it finds the caller's credentials. */
  readonly call: string
  held: number
}

export type Scopes = AsyncLocalStorage<Scope>
