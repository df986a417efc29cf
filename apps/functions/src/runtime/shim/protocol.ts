// The lines that host and shim exchange over stdin and stdout. Both sides use these types.

/** The first line on stdin. Secrets travel here, never in argv or the environment of the process. */
export interface Boot {
  readonly name: string
  /** file: URL of the bundle. */
  readonly bundle: string
  /** Unix socket to serve on, and the one to the host. */
  readonly ingress: string
  readonly gateway: string
  /** Socket for other hosts, and `host:port` of the reachable ones. */
  readonly sockets: { readonly path: string; readonly listed: readonly string[] }
  readonly env: Readonly<Record<string, string>>
  /** Members of `env` for handlers, as the policy has them, and the queue that the function consumes. */
  readonly bindings: readonly string[]
  readonly queue: string
  /** The module that keeps `/tmp` in memory, and its maximum size. */
  readonly tmp: { readonly module: string; readonly bytes: number }
}

/**
 * Messages from the shim to the host over stdout. A function can forge any of them; a forged message harms only itself.
 */
export type ShimMessage =
  /** `crons`: `name: expression` of each `Deno.cron`. */
  | { readonly t: 'ready'; readonly crons: readonly string[] }
  | { readonly t: 'failed'; readonly message: string; readonly stack: string }
  | { readonly t: 'pong'; readonly n: number }
  | { readonly t: 'hold' | 'release'; readonly call: string }

/** A line of the log. */
export interface LogMessage {
  readonly t: 'log'
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  /** The call that it belongs to; empty when none. */
  readonly call: string
  readonly text: string
  /** Lines lost before this one; absent: none. */
  readonly dropped?: number
}
