import type { WkbHead } from '@terrane/core'

/** Code of a geometry as in ISO WKB. */
export function isoType({ code, hasZ, hasM }: WkbHead): number {
  return code + (hasZ ? 1000 : 0) + (hasM ? 2000 : 0)
}
