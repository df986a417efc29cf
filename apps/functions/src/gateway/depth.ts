import { createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
export { DEPTH_HEADER } from '@terrane/contracts/events'

/** Maximum depth of a chain of functions that call each other, also by changes of rows and by messages. */
export const MAX_DEPTH = 8

/**
 * Depth of a call in a chain of functions, in a header that only hosts with the same secret can write, for one project.
 * The gateway adds it to functions' requests to the project API; the origin and the worker pass it on with the events
 * of what such a request writes. It never reaches a function as a header. A value without a valid signature counts as a
 * call from outside.
 */
export class Depths {
  readonly #secret: string
  /** Tokens by depth, of the projects that were used last. */
  readonly #tokens = new LRUCache<string, readonly string[]>({ max: 1000 })

  constructor(secret: string) {
    this.#secret = secret
  }

  /** Largest depth in a header, which lists one or more; 0 for a call from outside. */
  read(project: string, header: string | string[] | undefined): number {
    if (typeof header !== 'string') return 0
    const given = new Set(header.split(/, */))
    return Math.max(
      0,
      this.#tokensOf(project).findLastIndex((token) => given.has(token)),
    )
  }

  /** The header of a call made by a function that itself runs at this depth. */
  next(project: string, depth: number): string {
    return this.#tokensOf(project)[Math.min(depth, MAX_DEPTH) + 1]!
  }

  /** Functions can read tokens in their database, so a token of one project is not valid in another. */
  #tokensOf(project: string): readonly string[] {
    let tokens = this.#tokens.get(project)
    if (!tokens) {
      tokens = Array.from({ length: MAX_DEPTH + 2 }, (_, depth) => {
        const signature = createHmac('sha256', this.#secret).update(`functions depth ${depth} ${project}`)
        return `${depth}.${signature.digest('base64url')}`
      })
      this.#tokens.set(project, tokens)
    }
    return tokens
  }
}
