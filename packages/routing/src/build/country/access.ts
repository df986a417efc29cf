import { Access } from '../../graph/attributes.ts'
import { COUNTRIES } from '../access-law.ts'
import type { WayAccess } from '../tags/way-access.ts'

/**
 * Default access of a way in its country. Modes with an access tag on the way are unchanged.
 *
 * @param highway the class of the way; null when tags decide for all modes
 */
export function countryAccess(access: WayAccess, highway: string | null, code: string | null): WayAccess {
  const open = COUNTRIES[code ?? '']?.[highway ?? '']
  if (open === undefined) return access
  const decided = access.tagged | Access.emergency | ((access.tagged & Access.foot) === 0 ? 0 : Access.wheelchair)
  const closing = ~open & ~decided
  // `access` already contains the directions that the tags leave open.
  const opening = open & ~decided & ~(access.forward | access.backward)
  return {
    ...access,
    forward: (access.forward & ~closing) | (access.travelled.forward & opening & ~access.closed.forward),
    backward: (access.backward & ~closing) | (access.travelled.backward & opening & ~access.closed.backward),
  }
}
