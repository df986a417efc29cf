import { Pool } from './pool.ts'
import type { WayFacts } from './tags/way.ts'

/** Facts of ways by position in the list, which ascends by id. Ways with equal facts share them. */
export class Ways {
  readonly ids: Float64Array
  readonly #facts: readonly WayFacts[]
  readonly #factOf: Uint32Array

  constructor(ids: Float64Array, facts: readonly WayFacts[], factOf: Uint32Array) {
    this.ids = ids
    this.#facts = facts
    this.#factOf = factOf
  }

  get count(): number {
    return this.ids.length
  }

  facts(way: number): WayFacts {
    return this.#facts[this.#factOf[way]!]!
  }

  /**
   * The same ways with facts that depend on the way. Ways with equal facts and equal `key` must have equal results of
   * `change`.
   */
  withFacts(key: (way: number) => string, change: (facts: WayFacts, key: string) => WayFacts): Ways {
    const pool = new Pool<WayFacts>()
    const factOf = this.#factOf.map((fact, way) => {
      const text = key(way)
      return pool.number(`${fact} ${text}`, () => change(this.#facts[fact]!, text))
    })
    return new Ways(this.ids, pool.values, factOf)
  }
}

/** The nodes of ways: those of way `w` are `node[first[w]] … node[first[w + 1] - 1]`, by their numbers in the index. */
export interface WayNodes {
  readonly first: Uint32Array
  readonly node: Uint32Array
}
