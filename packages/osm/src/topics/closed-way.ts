import type { TagView } from '../features/tag-view.ts'
import { AREA_RULES } from './area-rules.ts'
import { keyRules, matches } from './match.ts'
import type { KeyRule } from './match.ts'

/** Whether a closed way is an area or a line: by `area=yes` or `area=no`, else by the rules. */
export class ClosedWayTest {
  /** The keys that the tags must be able to give. */
  static readonly KEYS: readonly string[] = ['area', ...Object.keys(AREA_RULES)]
  readonly #tags: TagView
  readonly #area: number
  readonly #rules: readonly KeyRule[]

  constructor(tags: TagView) {
    this.#tags = tags
    this.#area = tags.numberOf('area')
    this.#rules = keyRules(AREA_RULES, tags)
  }

  /** About the way whose tags are loaded. */
  isArea(): boolean {
    const area = this.#tags.get(this.#area)
    if (area === 'no' || area === 'yes') return area === 'yes'
    return this.#rules.some((rule) => matches(rule, this.#tags))
  }
}
