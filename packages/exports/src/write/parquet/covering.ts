import type { SchemaElement } from 'hyparquet'
import type { Box } from '../../shape-facts.ts'

const SIDES = ['xmin', 'ymin', 'xmax', 'ymax'] as const

/** The box of a geometry as a row of the covering column. */
export type Covering = Readonly<Record<(typeof SIDES)[number], number>>

const number = new Float32Array(1)
const bits = new Int32Array(number.buffer)

/** Schema of the column of boxes (GeoParquet 1.1, covering), by which readers skip rows outside of an area. */
export function coveringElements(name: string): SchemaElement[] {
  return [
    { name, repetition_type: 'OPTIONAL', num_children: SIDES.length },
    ...SIDES.map((side) => ({ name: side, repetition_type: 'REQUIRED', type: 'FLOAT' }) as const),
  ]
}

/** The `covering` member of the geometry's metadata. */
export function coveringMetadata(name: string): object {
  return { bbox: Object.fromEntries(SIDES.map((side) => [side, [name, side]])) }
}

/** A single-precision box around a double-precision one; null for null. */
export function coveringOf(box: Box | null): Covering | null {
  if (box === null) return null
  const [west, south, east, north] = box
  return { xmin: -above(-west), ymin: -above(-south), xmax: above(east), ymax: above(north) }
}

/** The least number in single precision that is not below another. */
function above(value: number): number {
  number[0] = value
  if (number[0] >= value || !Number.isFinite(value)) return number[0]
  // The next number: positive numbers sort like their bits, negative ones in reverse.
  if (number[0] === 0) return 2 ** -149
  bits[0]! += number[0] > 0 ? 1 : -1
  return number[0]
}
