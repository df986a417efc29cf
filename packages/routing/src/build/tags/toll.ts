import { Access, ALL_ACCESS } from '../../graph/attributes.ts'
import { MODE_LAWS } from '../access-law.ts'
import { withWheelchair } from './decide.ts'
import type { Tags } from './values.ts'

const PAID = new Set(['yes', 'true', '1', 'interval', 'snowmobile', 'designated'])

/** Classes of lorries by weight: up to 12 t and above. Source: GraphHopper's `OSMTollParser`. */
const LORRIES = ['toll:N3', 'toll:N2']

const KEYS = MODE_LAWS.map(({ mode, keys }) => {
  const own = keys.slice(0, -1).map((key) => `toll:${key}`)
  return { mode: withWheelchair(mode), keys: [...own, ...(mode === Access.truck ? LORRIES : []), 'toll'] }
})
const OTHERS = KEYS.reduce((others, { mode }) => others & ~mode, ALL_ACCESS)

/**
 * Modes that pay a toll in a direction of a way: by `toll:hgv` and the like, the most specific first, else by `toll`.
 * Source: OpenStreetMap wiki, Key:toll.
 */
export function payingModes(tags: Tags, direction: 'forward' | 'backward'): number {
  const pays = (key: string): boolean | undefined => {
    const value = tags.get(`${key}:${direction}`) ?? tags.get(key)
    return value === undefined ? undefined : PAID.has(value)
  }
  let modes = pays('toll') === true ? OTHERS : 0
  for (const { mode, keys } of KEYS) if (keys.map(pays).find((paid) => paid !== undefined) === true) modes |= mode
  return modes
}
