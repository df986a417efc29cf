import { types, type ClientConfig, type CustomTypesConfig } from 'pg'

export interface DatabaseOptions {
  readonly url: string
  /** IP address to connect to instead of the URL's host, when that host was resolved and checked before. */
  readonly address?: string
  /** Maximum connections of the pool; 10 when absent. */
  readonly max?: number
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string
  /** Longest wait for a connection in milliseconds; 10 s when absent. */
  readonly connectTimeoutMs?: number
  /** Maximum bytes of an answer; 256 MiB when absent. COPY streams are not counted. */
  readonly answerBytes?: number
  /**
   * Time without a byte in milliseconds after which the server is asked, on another connection, whether it still runs the
   * statement; also the time between two heartbeats of a listening connection. 15 s when absent.
   */
  readonly silenceMs?: number
  /** Called with errors of idle connections, which the pool replaces. */
  readonly onError?: (error: Error) => void
}

/** bigint columns are read as numbers, because their ids and counts are far below 2^53 here. */
export const TYPES: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === (types.builtins.INT8 as number) && format !== 'binary' ? Number : types.getTypeParser(oid, format),
}

const CONNECT_TIMEOUT_MS = 10_000
const SILENCE_MS = 15_000

/** Longest wait for a connection in milliseconds. */
export function connectTimeoutOf(options: DatabaseOptions): number {
  return options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
}

/** Time without a byte after which a connection is checked, in milliseconds. */
export function silenceOf(options: DatabaseOptions): number {
  return options.silenceMs ?? SILENCE_MS
}

/** Connection parameters. With a checked address only sslmode of the URL's query counts: others can name files. */
export function connectionOf(options: DatabaseOptions, suffix = ''): ClientConfig & { readonly answerBytes?: number } {
  const common = {
    application_name: `${options.applicationName ?? 'terrane'}${suffix}`,
    connectionTimeoutMillis: connectTimeoutOf(options),
    ...(options.answerBytes !== undefined && { answerBytes: options.answerBytes }),
  }
  if (options.address === undefined) return { ...common, connectionString: options.url }
  const url = new URL(options.url)
  const sslmode = url.searchParams.get('sslmode') ?? 'prefer'
  const verify = sslmode === 'verify-full' || sslmode === 'verify-ca'
  return {
    ...common,
    host: options.address,
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ssl:
      sslmode === 'disable' || sslmode === 'prefer' || sslmode === 'allow'
        ? false
        : { rejectUnauthorized: verify, servername: url.hostname },
  }
}
