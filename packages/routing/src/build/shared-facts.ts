import { Pool } from './pool.ts'
import type { WayFacts } from './tags/way.ts'

const PARTS = ['access', 'speeds', 'flags', 'limits', 'timed', 'unread', 'names'] as const

/** Shares equal parts of the facts of ways, so that ways that differ in one tag share the rest. */
export class SharedFacts {
  readonly #parts = new Pool<unknown>()

  share(facts: WayFacts): WayFacts {
    const shared: Record<string, unknown> = {
      ...facts,
      laneTags: this.#one('laneTags', [...facts.laneTags], facts.laneTags),
    }
    for (const part of PARTS) shared[part] = this.#one(part, facts[part], facts[part])
    return shared as unknown as WayFacts
  }

  #one(part: string, content: unknown, value: unknown): unknown {
    return this.#parts.values[this.#parts.number(part + JSON.stringify(content), () => value)]
  }
}
