import type { LngLatBox } from './extent.ts'
import type { ZoomRange } from './layer.ts'
import { stepOf } from './level.ts'
import { toSource } from './placement.ts'
import type { Georeference } from './placement.ts'
import { MERCATOR_EDGE, tileView } from './view.ts'

/** The zoom at which the raster fits into a tile, and the zoom whose pixels are no larger than its own. */
export function zoomsOf(place: Georeference, boxes: readonly LngLatBox[]): ZoomRange {
  const box = boxes[0] as LngLatBox
  const far = 20
  const n = 2 ** far
  const lat = Math.max(-85, Math.min(85, (box[1] + box[3]) / 2))
  const x = Math.min(n - 1, Math.max(0, Math.floor((((box[0] + box[2]) / 2 + 180) / 360) * n)))
  const y = Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * n)
  // At this zoom the transform is practically linear.
  const step = stepOf(toSource(tileView(far, x, y, 256), place), { x: 0, y: 0, width: 256, height: 256 })
  const pixel = (2 * MERCATOR_EDGE) / n / 256 / step
  return {
    minzoom: clamp(Math.floor(zoomOf((pixel * Math.max(place.width, place.height)) / 256))),
    maxzoom: clamp(Math.ceil(zoomOf(pixel) - 0.01)),
  }
}

function zoomOf(pixelMeters: number): number {
  return Math.log2((2 * MERCATOR_EDGE) / 256 / pixelMeters)
}

function clamp(zoom: number): number {
  return Math.max(0, Math.min(24, zoom))
}
