import proj4 from 'proj4'

type Convert = (position: readonly [number, number]) => [number, number]

/**
 * Conversion between longitude and latitude and a CRS, in the directions of its axes: south-orientated grids count west
 * and south.
 */
export interface CrsConverter {
  /** Converts from longitude and latitude. */
  readonly forward: Convert
  /** Converts to longitude and latitude. */
  readonly inverse: Convert
}

const converters = new Map<string, CrsConverter>()

/**
 * The converter of a PROJ string. It is cached, because parsing a string costs more than many footprints and few
 * strings occur.
 *
 * @throws proj4's error
 */
export function converterOf(definition: string): CrsConverter {
  const known = converters.get(definition)
  if (known !== undefined) return known
  const { forward, inverse } = proj4(definition)
  const converter: CrsConverter = {
    forward: ([x, y]) => forward<[number, number]>([x, y], true),
    inverse: ([x, y]) => inverse<[number, number]>([x, y], true),
  }
  converters.set(definition, converter)
  return converter
}

/** Whether the axes of a CRS are a mirror image of east and north, as south and west are in this order. */
export function isMirrored(definition: string): boolean {
  const [, first = 'e', second = 'n'] = /\+axis=([ensw])([ensw])/.exec(definition) ?? []
  const isSwapped = first === 'n' || first === 's'
  const flips = [first, second].filter((axis) => axis === 's' || axis === 'w').length
  return isSwapped !== (flips === 1)
}
