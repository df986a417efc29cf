import { createHmac } from 'node:crypto'
import { SIGNED_DEPTH } from '@terrane/contracts/events'
import { LRUCache } from 'lru-cache'
export { DEPTH_HEADER } from '@terrane/contracts/events'

/** Maximum depth of a chain of functions that call each other, also by changes of rows and by messages. */
export const MAX_DEPTH = 8
/** Tokens of a header that are verified. An event has one, and a batch has at most 50 events. */
const MAX_TOKENS = 64

/** Position of a call in a chain of functions. */
export interface Depth {
  /** Calls below the first one, or below the last call of a function with a longer chain. */
  readonly calls: number
  /** Calls of functions with a longer chain (`max_chain` above {@link MAX_DEPTH}). */
  readonly steps: number
}

/** A call from outside. */
export const OUTSIDE: Depth = { calls: 0, steps: 0 }

/** The deeper of two positions, by each of the two counts. */
export function deepest(a: Depth, b: Depth): Depth {
  return { calls: Math.max(a.calls, b.calls), steps: Math.max(a.steps, b.steps) }
}

/**
 * Position of a call of a function, by what its caller sent; null when its chain is too long. Calls of a function with
 * a longer chain are counted apart, so that what each of them calls has the usual maximum.
 */
export function enter({ calls, steps }: Depth, maxChain: number): Depth | null {
  if (maxChain <= MAX_DEPTH || calls === 0) return calls > maxChain ? null : { calls, steps }
  return steps >= maxChain ? null : { calls: 0, steps: steps + 1 }
}

/**
 * Depth of a call in a chain of functions, in a header that only hosts with the same secret can write, for one project.
 * The gateway adds it to functions' requests to the project API; the origin and the worker pass it on with the events
 * of what such a request writes. It never reaches a function as a header. A value without a valid signature counts as a
 * call from outside.
 */
export class Depths {
  readonly #secret: string
  /** Tokens that were used last, by project and depth. */
  readonly #tokens = new LRUCache<string, string>({ max: 10_000 })

  constructor(secret: string) {
    this.#secret = secret
  }

  /** Largest depth in a header, which lists one or more. */
  read(project: string, header: string | string[] | undefined): Depth {
    if (typeof header !== 'string') return OUTSIDE
    const tokens = new Set(header.split(/, */, MAX_TOKENS))
    return [...tokens].map((token) => this.#verify(project, token)).reduce(deepest, OUTSIDE)
  }

  /** The header of a call made by a function that itself runs at this depth. */
  next(project: string, { calls, steps }: Depth): string {
    return this.#token(project, Math.min(calls, MAX_DEPTH) + 1, steps)
  }

  #verify(project: string, token: string): Depth {
    if (!SIGNED_DEPTH.test(token)) return OUTSIDE
    const [calls = 0, steps = 0] = token.split('.').slice(0, -1).map(Number)
    return this.#token(project, calls, steps) === token ? { calls, steps } : OUTSIDE
  }

  /**
   * Functions can read tokens in their database, so a token of one project is not valid in another. Without steps it has
   * the form of earlier releases, whose hosts and workers run beside this one during an update.
   */
  #token(project: string, calls: number, steps: number): string {
    const depth = steps === 0 ? `${calls}` : `${calls}.${steps}`
    const key = `${depth} ${project}`
    let token = this.#tokens.get(key)
    if (token === undefined) {
      const signature = createHmac('sha256', this.#secret).update(`functions depth ${key}`)
      token = `${depth}.${signature.digest('base64url')}`
      this.#tokens.set(key, token)
    }
    return token
  }
}
