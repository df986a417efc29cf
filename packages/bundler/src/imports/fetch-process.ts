import type { ExecFileException } from 'node:child_process'

/** Private memory of a fetch: Deno holds a whole answer in memory. */
const MEMORY_MB = 1024
/** Largest file that a fetch writes, in blocks of 512 bytes: 256 MiB. */
const FILE_BLOCKS = 524_288
/** Begins a command that fetches, with bounds on memory and files. macOS accepts no data limit. */
export const BOUNDED = [
  '/bin/sh',
  '-c',
  [
    'ulimit -c 0',
    `ulimit -f ${FILE_BLOCKS}`,
    ...(process.platform === 'linux' ? [`ulimit -d ${MEMORY_MB * 1024}`] : []),
    'exec "$0" "$@"',
  ].join(' && '),
]

/** A place in the entry that Deno reads, which is the host's; its only import is the function. */
const OUR_ENTRY = /^at file:\S*\/entry\.ts:\d+:\d+$/
const NOT_LISTED = /Requires import access to "([^"]+)"/
/** The last words of a process without memory: Rust's, and V8's. */
const OUT_OF_MEMORY = /memory allocation of \d+ bytes failed|out of memory/i

/** Deno's error message, replaced by this host's own wording where there is one. */
export function reasonOf(
  error: ExecFileException,
  { hostsSetting, timeoutMs }: { readonly hostsSetting: string; readonly timeoutMs: number },
): string {
  const { stderr = '' } = error
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

/** Whether the program that fetched failed, for another reason than a host that is not listed. */
export function isRetryable(error: unknown): boolean {
  const { cause } = error as { cause?: Partial<ExecFileException> }
  return cause !== undefined && !NOT_LISTED.test(cause.stderr ?? '')
}
