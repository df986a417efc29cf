import { AREA, LINE, LINES, MEMBER, MEMBERS, POINT } from '../features/feature.ts'
import type { ElementKind } from '../features/feature.ts'
import type { TagView } from '../features/tag-view.ts'
import { AREA_RELATIONS, AREA_RULES } from './area-rules.ts'
import { definitionOf } from './columns.ts'
import { compileCondition, compileFinder, compileFurther, fits, keyNames } from './filters.ts'
import type { Finder, Matched } from './filters.ts'
import type { TopicTable } from './import-table.ts'
import type { Filter, RowSource, StyleTable } from './style.ts'

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
  readonly #find: Finder
  readonly #findArea: Finder
  readonly #also: Finder | null
  readonly #lines: StyleTable['lines']
  /** {@link MEMBERS} for a table that reads them. */
  readonly #members: number
  readonly #area: number
  readonly #type: number
  // State of the element whose tags are loaded.
  #load = -1
  #wanted = 0
  #matched: Matched | null = null
  #matchedArea: Matched | null = null

  /** @param tags knows all keys of the table, `area`, `type` and the keys of the {@link AREA_RULES} */
  constructor(table: TopicTable, tags: TagView) {
    const { from, where, also, columns, areas = 'byKey', lines = 'notAreaYes' } = table
    this.#tags = tags
    this.#sources = new Set(from)
    this.#members = columns.some((column) => definitionOf(column).value === 'members') ? MEMBERS : 0
    this.geometries = from.reduce((bits, source) => bits | SOURCE_GEOMETRY[source], this.#members)
    this.#find = compileFinder(where, tags)
    this.#findArea = compileArea(where, areas, this.#find, tags)
    this.#also = also && compileFinder(also, tags)
    this.#lines = lines
    this.#area = tags.numberOf('area')
    this.#type = tags.numberOf('type')
  }

  /** The geometries of the element for the table, and whether it reads the members of a relation. */
  wanted(element: ElementKind): number {
    const tags = this.#tags
    if (this.#load === tags.loads) return this.#wanted
    this.#load = tags.loads
    this.#matched = this.#matchedArea = null
    this.#wanted = this.#decide(element)
    if (this.#wanted !== 0 && this.#also && this.#also() === null) this.#wanted = 0
    return this.#wanted
  }

  /** The matched key of a geometry that is {@link wanted}. */
  matched(geometry: number): Matched {
    return ((geometry === AREA ? this.#matchedArea : null) ?? this.#matched)!
  }

  #decide(element: ElementKind): number {
    const sources = this.#sources
    switch (element) {
      case 'node':
        return sources.has('node') && this.#fits() ? POINT : 0
      case 'open way':
        return sources.has('line') && this.#fits() ? LINE : 0
      case 'closed way':
        return this.#wantedOfClosedWay()
      case 'relation':
        return this.#wantedOfRelation()
    }
  }

  #fits(): boolean {
    this.#matched = this.#find()
    return this.#matched !== null
  }

  #wantedOfClosedWay(): number {
    const isOfAreas = this.#sources.has('area')
    if (isOfAreas || this.#lines === 'notAreas') this.#matchedArea = this.#findArea()
    const area = isOfAreas && this.#matchedArea !== null ? AREA : 0
    if (!this.#sources.has('line')) return area
    if (this.#lines === 'notAreaYes' && this.#tags.get(this.#area) === 'yes') return area
    if (this.#lines === 'notAreas' && this.#matchedArea !== null) return area
    return this.#fits() ? area | LINE : area
  }

  #wantedOfRelation(): number {
    const sources = this.#sources
    const type = this.#tags.get(this.#type) ?? ''
    const isLines = sources.has('relation') || ((type === 'route' || type === 'waterway') && sources.has(type))
    const isArea = sources.has('area') && AREA_RELATIONS.includes(type)
    const wanted = (isLines ? LINES : 0) | (isArea ? AREA : 0) | (sources.has('member') ? MEMBER : 0)
    return wanted !== 0 && this.#fits() ? wanted | this.#members : 0
  }
}

/** Further condition for a closed way to be an area. */
function compileArea(where: Filter, areas: NonNullable<StyleTable['areas']>, find: Finder, tags: TagView): Finder {
  if (typeof areas === 'object') {
    const isArea = compileFinder(areas, tags)
    return () => (isArea() === null ? null : find())
  }
  const area = tags.numberOf('area')
  const byTags = areas === 'all' ? find : compileByKey(where, areas, find, tags)
  return () => {
    const value = tags.get(area)
    return value === 'no' ? null : value === 'yes' ? find() : byTags()
  }
}

function compileByKey(where: Filter, areas: 'byKey' | 'byAnyKey', find: Finder, tags: TagView): Finder {
  const rules = AREA_RULES.map((rule) => compileCondition(rule, tags))
  const isAnyKey = (): boolean => rules.some((rule) => fits(rule, tags))
  const ruleOf = new Map(rules.map((rule) => [rule.name, rule]))
  if (areas === 'byKey' && keyNames(where).some((key) => ruleOf.has(key))) {
    return compileFurther(where, tags, (key) => ruleOf.get(key), isAnyKey)
  }
  return () => (isAnyKey() ? find() : null)
}
