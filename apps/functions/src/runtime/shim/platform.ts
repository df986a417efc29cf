import type { Boot } from './protocol.ts'
import type { Scopes } from './scope.ts'

/** Differences between Deno and Node. */
export interface Platform {
  readonly stdin: AsyncIterable<Uint8Array>
  scopes(): Scopes | Promise<Scopes>
  listen(path: string, serve: (request: Request) => Response | Promise<Response>): Promise<void>
  /** The text of the bundle, by its URL. */
  read(bundle: string): string
  /**
   * Lets a `node:http` server of the bundle listen on the socket, ignoring the requested port. Null when the bundle has
   * no server, or the platform cannot do it.
   *
   * @param around runs the handling of each request
   */
  offerHttp(path: string, code: string, around: (request: HttpRequest, handle: () => void) => void): HttpOffer | null
  /** Lets TCP clients of the bundle connect to the listed hosts. */
  carrySockets(sockets: Boot['sockets'], code: string, onRefused: (text: string) => void): void
  /** Keeps `/tmp` in memory if the bundle may use it. */
  keepTmp(tmp: Boot['tmp'], bundle: string, code: string): Promise<void>
  /** Creates the function that sends a request to the host. Its URL has no meaning. */
  gatewayClient(path: string): (request: Request) => Promise<Response>
  write(text: string): void
  readonly inspect: (value: unknown) => string
  /** Replaces the whole environment. */
  setEnv(env: Readonly<Record<string, string>>): void
  /** Calls back for uncaught errors; the process continues. */
  onUncaught(report: (error: unknown) => void): void
  /** Offers `Deno.serve` to users. */
  defineServe(serve: (...args: unknown[]) => unknown): void
  /** Offers the older APIs, `Deno.listen` and `Deno.serveHttp`. */
  serveConnections(offer: (answer: (request: Request) => Promise<Response>) => void): void
  /** Removes globals that are not for functions, and answers queries that the function may not send to the system. */
  tidy(code: string): void
  exit(code: number): never
}

/** Headers of a `node:http` request, names in lower case. */
export type HttpHeaders = Record<string, string | string[] | undefined>

/** A request to a server of `node:http`. */
export interface HttpRequest {
  headers: HttpHeaders
  url: string
}

/** Handle of a server that the bundle may start. */
export interface HttpOffer {
  /** Resolves when it listens. */
  readonly listening: Promise<void>
  /** From now on no server can be started. */
  withdraw(): void
}
