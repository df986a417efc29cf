import { AREA, LINE, LINES, MEMBER, POINT } from '../features/feature.ts'
import type { ElementKind } from '../features/feature.ts'
import type { TagView } from '../features/tag-view.ts'
import { AREA_RELATIONS, AREA_RULES } from './area-rules.ts'
import { compileCondition, compileFilter, fits } from './filters.ts'
import type { CompiledFilter, Condition } from './filters.ts'
import type { TopicTable } from './import-table.ts'
import type { RowSource } from './style.ts'

/** The key by which an element belongs to a table. */
export interface Matched {
  /** Its number; -1 where no single key decides. */
  readonly key: number
  readonly name: string
}

const ANY: Matched = { key: -1, name: '' }

const SOURCE_GEOMETRY: Readonly<Record<RowSource, number>> = {
  node: POINT,
  line: LINE,
  area: AREA,
  route: LINES,
  waterway: LINES,
  relation: LINES,
  member: MEMBER,
}

/** Decides which elements give rows of one table, about the element whose tags are loaded. */
export class TableRules {
  /** All geometries that the table may want. */
  readonly geometries: number
  readonly #tags: TagView
  readonly #sources: ReadonlySet<RowSource>
  readonly #filter: CompiledFilter
  readonly #areas: 'byKey' | 'byAnyKey' | 'all' | CompiledFilter
  readonly #lines: 'notAreaYes' | 'notAreas' | 'all'
  readonly #areaRules: readonly Condition[]
  readonly #areaRuleOf: ReadonlyMap<string, Condition>
  readonly #area: number
  readonly #type: number

  /** @param tags knows all keys of the table, `area`, `type` and the keys of the {@link AREA_RULES} */
  constructor(table: TopicTable, tags: TagView) {
    const { from, where, areas = 'byKey', lines = 'notAreaYes' } = table
    this.#tags = tags
    this.#sources = new Set(from)
    this.geometries = from.reduce((bits, source) => bits | SOURCE_GEOMETRY[source], 0)
    this.#filter = compileFilter(where, tags)
    this.#areas = typeof areas === 'string' ? areas : compileFilter(areas, tags)
    this.#lines = lines
    this.#areaRules = AREA_RULES.map((rule) => compileCondition(rule, tags))
    this.#areaRuleOf = new Map(this.#areaRules.map((rule) => [rule.name, rule]))
    this.#area = tags.numberOf('area')
    this.#type = tags.numberOf('type')
  }

  /** The geometries that the table wants of the element. */
  wanted(element: ElementKind): number {
    const sources = this.#sources
    switch (element) {
      case 'node':
        return sources.has('node') && this.match() !== null ? POINT : 0
      case 'open way':
        return sources.has('line') && this.match() !== null ? LINE : 0
      case 'closed way': {
        const line = sources.has('line') && this.#isLine() ? LINE : 0
        return line | (sources.has('area') && this.matchArea() !== null ? AREA : 0)
      }
      case 'relation':
        return this.#wantedOfRelation()
    }
  }

  #wantedOfRelation(): number {
    const sources = this.#sources
    const type = this.#tags.get(this.#type) ?? ''
    const isLines = sources.has('relation') || ((type === 'route' || type === 'waterway') && sources.has(type))
    const isArea = sources.has('area') && AREA_RELATIONS.includes(type)
    const wanted = (isLines ? LINES : 0) | (isArea ? AREA : 0) | (sources.has('member') ? MEMBER : 0)
    return wanted !== 0 && this.match() !== null ? wanted : 0
  }

  /** The first key that fits; null for an element that does not belong here. */
  match(): Matched | null {
    const tags = this.#tags
    const { conditions, test } = this.#filter
    if (test !== null && !test()) return null
    for (const condition of conditions) if (fits(condition, tags)) return condition
    return test === null ? null : ANY
  }

  /** As {@link match} for a closed way, which must also be an area. */
  matchArea(): Matched | null {
    const area = this.#tags.get(this.#area)
    if (typeof this.#areas === 'object') return isTrue(this.#areas, this.#tags) ? this.match() : null
    if (area === 'no') return null
    return area === 'yes' || this.#areas === 'all' ? this.match() : this.#matchByKey()
  }

  #matchByKey(): Matched | null {
    const tags = this.#tags
    const { conditions, test } = this.#filter
    if (test !== null && !test()) return null
    if (conditions.length === 0 || this.#areas === 'byAnyKey')
      return this.#areaRules.some((rule) => fits(rule, tags)) ? this.match() : null
    for (const condition of conditions) {
      const rule = this.#areaRuleOf.get(condition.name)
      if (rule && fits(condition, tags) && fits(rule, tags)) return condition
    }
    return null
  }

  #isLine(): boolean {
    if (this.#lines === 'notAreaYes' && this.#tags.get(this.#area) === 'yes') return false
    if (this.#lines === 'notAreas' && this.matchArea() !== null) return false
    return this.match() !== null
  }
}

function isTrue({ conditions, test }: CompiledFilter, tags: TagView): boolean {
  return test === null ? conditions.some((condition) => fits(condition, tags)) : test()
}
