import type { ExecFileException } from 'node:child_process'

/** Private memory of a fetch: Deno holds a whole answer in memory. */
const MEMORY_MB = 1024
/** Largest file that a fetch writes, in blocks of 512 bytes: 256 MiB. */
const FILE_BLOCKS = 524_288
/** Lowers a limit of the process unless it is lower already, because limits cannot be raised. */
const LOWER =
  'lower() { now=$(ulimit "$1"); if [ "$now" = unlimited ] || [ "$now" -gt "$2" ]; then ulimit "$1" "$2"; fi; }'
/** Beginning of a command line for a fetch; it limits memory and the size of files. macOS accepts no data limit. */
export const BOUNDED = [
  '/bin/sh',
  '-c',
  [
    LOWER,
    'ulimit -c 0',
    `lower -f ${FILE_BLOCKS}`,
    ...(process.platform === 'linux' ? [`lower -d ${MEMORY_MB * 1024}`] : []),
    'exec "$0" "$@"',
  ].join(' && '),
]

/** Position in the entry file that this package writes for Deno; its only import is the function. */
const OUR_ENTRY = /^at file:\S*\/entry\.ts:\d+:\d+$/
const NOT_LISTED = /Requires import access to "([^"]+)"/
/** Messages of Rust and of V8 when memory is exhausted. */
const OUT_OF_MEMORY = /memory allocation of \d+ bytes failed|out of memory/i
/** Errors of connections, and of servers. */
const PASSING = /error sending request|client error \(|(?:failed|Bad response): 5\d\d/
const NOT_FOUND = /^error: Module not found "(https?:[^"]+)"/m

/** Deno's error message, replaced by this host's own wording where there is one. */
export function reasonOf(
  error: ExecFileException,
  { hostsSetting, timeoutMs }: { readonly hostsSetting: string; readonly timeoutMs: number },
): string {
  const { stderr = '' } = error
  if (String(error.code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return 'what it imports is too much: the list of its modules is longer than 64 MB'
  if (error.signal === 'SIGXFSZ') return `what it imports is too large: a file is larger than ${FILE_BLOCKS / 2048} MB`
  if (error.killed) return `fetching what it imports took longer than ${timeoutMs / 1000} seconds`
  if (OUT_OF_MEMORY.test(stderr))
    return `what it imports is too large: fetching it took more than ${MEMORY_MB} MB of memory`
  const host = NOT_LISTED.exec(stderr)?.[1]
  if (host !== undefined) return `code from ${host} is not imported: ${hostsSetting} does not list it`
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !OUR_ENTRY.test(line))
  const at = lines.findIndex((line) => line.startsWith('error: '))
  const said = at < 0 ? lines.slice(0, 3) : lines.slice(at, at + 3)
  const text = said.filter((line) => line !== '').join(' ')
  return `what it imports cannot be fetched: ${text.replace(/^error: /, '')}`
}

/** Whether a failed fetch may be retried (not unlisted hosts), and may succeed unchanged (network failures). */
export function retryOf(error: unknown): { readonly isRetryable: boolean; readonly isPassing: boolean } {
  const { cause } = error as { cause?: Partial<ExecFileException> }
  const { stderr = '', killed = false } = cause ?? {}
  return { isRetryable: cause !== undefined && !NOT_LISTED.test(stderr), isPassing: killed || PASSING.test(stderr) }
}

/** URL of a module that Deno has cached as not found; null for other failures. */
export function keptAsMissing(error: unknown): string | null {
  const { stderr = '' } = (error as { cause?: Partial<ExecFileException> }).cause ?? {}
  const url = NOT_FOUND.exec(stderr)?.[1]
  return url === undefined || stderr.includes(`Download ${url}\n`) ? null : url
}
