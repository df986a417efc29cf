import type { Mode } from '../../../src/index.ts'
import type { Violation } from './check.ts'
import type { TravelMap } from './map.ts'
import { KEYS } from './rules.ts'

/** Conditional tags that a violation by a mode may break, as `key=`. */
export function brokenTags(
  { restrictions, nodeTags, nodeIds, ways }: TravelMap,
  violation: Violation,
  mode: Mode,
): string[] {
  const { kind, id } = violation
  const tags =
    kind === 'restriction'
      ? restrictions.find((one) => one.id === id)?.tags
      : kind === 'barrier'
        ? nodeTags.get(nodeIds.indexOf(id))
        : ways.get(id)?.tags
  const isOfKind = (key: string): boolean => {
    const [base = ''] = key.split(':')
    if (kind === 'restriction') return base === 'restriction'
    if (kind === 'oneway' && base === 'oneway') return true
    if (base.startsWith('max')) return kind === 'limit' || kind === 'barrier'
    return KEYS[mode].includes(base) || base === 'hov'
  }
  return Object.keys(tags ?? {})
    .filter((key) => key === 'opening_hours' || (key.endsWith(':conditional') && isOfKind(key)))
    .map((key) => `${key}=`)
}
