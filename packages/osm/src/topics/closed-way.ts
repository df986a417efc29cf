import type { TagView } from '../features/tag-view.ts'
import { AREA_RULES } from './area-rules.ts'
import { compileCondition, fits } from './filters.ts'
import type { Condition } from './filters.ts'

/** Whether a closed way is an area or a line: by `area=yes` or `area=no`, else by the rules. */
export class ClosedWayTest {
  /** The keys that the tags must be able to give. */
  static readonly KEYS: readonly string[] = ['area', ...AREA_RULES.map(({ key }) => key)]
  readonly #tags: TagView
  readonly #area: number
  readonly #rules: readonly Condition[]

  constructor(tags: TagView) {
    this.#tags = tags
    this.#area = tags.numberOf('area')
    this.#rules = AREA_RULES.map((rule) => compileCondition(rule, tags))
  }

  /** About the way whose tags are loaded. */
  isArea(): boolean {
    const area = this.#tags.get(this.#area)
    if (area === 'no' || area === 'yes') return area === 'yes'
    return this.#rules.some((rule) => fits(rule, this.#tags))
  }
}
