import { pathToFileURL } from 'node:url'

/** Result of a type check of a function. */
export interface TypeCheck {
  /** `file:line:column: TS2322 text`, files relative to the function's folder; empty without errors. */
  readonly errors: readonly string[]
  /** Why the check was not possible; null when it was. */
  readonly unchecked: string | null
}

const MOST_ERRORS = 50
const MOST_CHARS = 400

/** Declarations of globals that functions have in addition to Deno's own. */
export const GLOBALS = `declare namespace EdgeRuntime {
  /** Keeps the instance alive for work that goes on after the answer. */
  function waitUntil(work: Promise<unknown>): void
}
`

/**
 * Reads the output of `deno check`: `TS2322 [ERROR]: text`, the source line, and `at file:///…:1:7`. Errors in packages
 * and in fetched modules are left out.
 *
 * @param folder of the function; shared code in the folder above it counts too
 */
export function readTypes(said: string, folder: string): TypeCheck {
  const home = `${pathToFileURL(folder).href}/`
  const above = home.slice(0, home.lastIndexOf('/', home.length - 2) + 1)
  const errors: string[] = []
  let text: string | null = null
  for (const line of said.split('\n')) {
    const found = /^(TS\d+) \[ERROR\]: (.*)$/.exec(line)
    if (found) text = `${found[1]} ${found[2]}`
    const place = /^\s+at (file:\/\/.*):(\d+):(\d+)$/.exec(line)
    if (!place || text === null) continue
    const [, address = '', row = '', column = ''] = place
    const isOwn = address.startsWith(above) && !address.includes('/node_modules/')
    const file = address.startsWith(home) ? address.slice(home.length) : `../${address.slice(above.length)}`
    if (isOwn && errors.length < MOST_ERRORS)
      errors.push(`${decodeURI(file)}:${row}:${column}: ${text}`.slice(0, MOST_CHARS))
    text = null
  }
  const failed = errors.length === 0 && !/TS\d+ \[ERROR\]/.test(said) ? /^error: (.*)$/m.exec(said) : null
  return { errors, unchecked: failed?.[1] ?? null }
}
