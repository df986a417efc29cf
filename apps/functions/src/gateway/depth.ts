import { createHmac } from 'node:crypto'
export { DEPTH_HEADER } from '@terrane/contracts/events'

/** Maximum depth of a chain of functions that call each other, also by changes of rows and by messages. */
export const MAX_DEPTH = 8

/**
 * Depth of a call in a chain of functions, in a header that only hosts with the same secret can write. The gateway adds
 * it to functions' requests to the project API; the origin and the worker pass it on with the events of what such a request
 * writes. It never reaches a function. A value that no host wrote counts as a call from outside.
 */
export class Depths {
  readonly #tokens: readonly string[]
  readonly #depths: ReadonlyMap<string, number>

  constructor(secret: string) {
    this.#tokens = Array.from({ length: MAX_DEPTH + 2 }, (_, depth) => {
      const signature = createHmac('sha256', secret).update(`functions depth ${depth}`).digest('base64url')
      return `${depth}.${signature}`
    })
    this.#depths = new Map(this.#tokens.map((token, depth) => [token, depth]))
  }

  /** 0 for a call from outside. */
  read(header: string | string[] | undefined): number {
    return typeof header === 'string' ? (this.#depths.get(header) ?? 0) : 0
  }

  /** The header of a call made by a function that itself runs at this depth. */
  next(depth: number): string {
    return this.#tokens[Math.min(depth, MAX_DEPTH) + 1]!
  }
}
