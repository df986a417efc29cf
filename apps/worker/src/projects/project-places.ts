import { setTimeout as sleep } from 'node:timers/promises'
import type { TerraneError } from '@terrane/core'

export interface PlacesOptions {
  /** Maximum concurrent places of all projects, and of one project, which must leave some for others. */
  readonly all: number
  readonly ofOne: number
  /** Longest wait for a place that another project holds. */
  readonly waitMs: number
  /** Makes the error of a refusal; `of` names the owner of the limit, as the end of a sentence. */
  readonly busy: (fields: { limit: number; of: string }) => TerraneError
}

interface Waiting {
  readonly project: string
  readonly enter: () => void
}

/** Limits the concurrent work for waiting callers: projects take turns, each with at most its number of places. */
export class ProjectPlaces {
  readonly #options: PlacesOptions
  readonly #taken: string[] = []
  readonly #line: Waiting[] = []

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /**
   * Takes a place until it is disposed of.
   *
   * @param project different for each project
   * @param left aborts when the caller leaves; the wait ends with its reason
   * @throws the error of `busy`: at once if the taken and awaited places of the project reach its limit, else after
   * `waitMs`
   */
  async take(project: string, left?: AbortSignal): Promise<Disposable> {
    const { all, ofOne, busy } = this.#options
    const own = [...this.#taken, ...this.#line.map((waiting) => waiting.project)]
    if (own.filter((other) => other === project).length >= ofOne) throw busy({ limit: ofOne, of: ' of one project' })
    if (this.#taken.length < all) this.#taken.push(project)
    else await this.#wait(project, left)
    return { [Symbol.dispose]: () => this.#leave(project) }
  }

  /** Waits for a place; a request that ends passes its place on. */
  async #wait(project: string, left: AbortSignal | undefined): Promise<void> {
    const { all, waitMs, busy } = this.#options
    const { promise: entered, resolve: enter } = Promise.withResolvers<'entered'>()
    const waiting: Waiting = { project, enter: () => enter('entered') }
    this.#line.push(waiting)
    const entering = new AbortController()
    const signal = left ? AbortSignal.any([left, entering.signal]) : entering.signal
    const late = sleep(waitMs, 'late' as const, { signal }).catch(() => 'left' as const)
    const outcome = await Promise.race([entered, late])
    entering.abort()
    if (outcome === 'entered' || !this.#line.includes(waiting)) return
    this.#line.splice(this.#line.indexOf(waiting), 1)
    left?.throwIfAborted()
    throw busy({ limit: all, of: '' })
  }

  #leave(project: string): void {
    this.#taken.splice(this.#taken.indexOf(project), 1)
    const next = this.#line.shift()
    if (!next) return
    this.#taken.push(next.project)
    next.enter()
  }
}
