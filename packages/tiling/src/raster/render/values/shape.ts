import { converterOf } from '../../crs/converter.ts'
import type { ReadPixels } from '../pixels.ts'
import { MERCATOR_EDGE } from '../view.ts'
import type { View } from '../view.ts'

/** Rings of polygons in longitude and latitude, by the even-odd rule. */
export type Shape = readonly (readonly (readonly [number, number])[])[]

/** Pixels (1) whose centre lies within a shape, and others (0). The view is not in the plane `raster`. */
export function insideOf(view: View, shape: Shape): Uint8Array {
  const inside = new Uint8Array(view.width * view.height)
  const rings = shape.map((ring) => ring.map((position) => placeIn(view, position)))
  for (let row = 0; row < view.height; row++) {
    const crossings = rings.flatMap((ring) => crossingsOf(ring, row + 0.5)).toSorted((a, b) => a - b)
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const from = Math.max(0, Math.ceil((crossings[i] as number) - 0.5))
      const to = Math.min(view.width, Math.ceil((crossings[i + 1] as number) - 0.5))
      if (from < to) inside.fill(1, row * view.width + from, row * view.width + to)
    }
  }
  return inside
}

/** Masks pixels whose centre lies outside of a shape. */
export function cutShape(pixels: ReadPixels, view: View, shape: Shape): ReadPixels {
  const inside = insideOf(view, shape)
  return { ...pixels, alpha: pixels.alpha.map((value, i) => (inside[i] === 1 ? value : 0)) }
}

function placeIn({ plane, crs, left, top, pixelWidth, pixelHeight }: View, [lng, lat]: readonly [number, number]) {
  if (plane === 'crs' && crs) {
    const [x, y] = converterOf(crs.definition).forward([lng, lat])
    return [(x - left) / pixelWidth, (top - y) / pixelHeight] as const
  }
  const isPlain = plane === 'lnglat'
  const x = isPlain ? lng : (lng / 180) * MERCATOR_EDGE
  const y = isPlain ? lat : Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) * (MERCATOR_EDGE / Math.PI)
  return [(x - left) / pixelWidth, (top - y) / pixelHeight] as const
}

/** Crossings of the edges of a ring with a row. */
function crossingsOf(ring: readonly (readonly [number, number])[], y: number): number[] {
  const found: number[] = []
  for (let i = 1; i < ring.length; i++) {
    const [[ax, ay], [bx, by]] = [ring[i - 1]!, ring[i]!]
    if (ay <= y !== by <= y) found.push(ax + ((y - ay) / (by - ay)) * (bx - ax))
  }
  return found
}
