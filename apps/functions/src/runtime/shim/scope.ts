/** The call that code runs for. */
export interface Scope {
  readonly requestId: string
  /** The host's number for the call, by which it finds the caller's credentials. */
  readonly call: string
  /** Claims of the caller's verified token or key; null without one, and where a server of `node:http` answers. */
  readonly claims: Readonly<Record<string, unknown>> | null
  /** Address of the caller; empty where a server of `node:http` answers. */
  readonly client: string
  held: number
}

/** Carries the scope of a call through everything that the call awaits or starts; a part of `AsyncLocalStorage`. */
export interface Scopes {
  getStore(): Scope | undefined
  run<Args extends readonly unknown[], Result>(scope: Scope, work: (...args: Args) => Result, ...args: Args): Result
}
