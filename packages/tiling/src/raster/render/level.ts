import type { PixelRect } from '../plan.ts'
import type { RasterInfo, RasterLevel } from '../raster-info.ts'
import type { ToSource } from './placement.ts'

/** An image of a raster, with its mask, and how many pixels of the full resolution one of its pixels spans. */
export interface ChosenLevel {
  readonly level: RasterLevel
  readonly mask: RasterLevel | null
  /** 0 for the full resolution, 1 for the first usable overview, and so on. */
  readonly index: number
  readonly factorX: number
  readonly factorY: number
}

/** The coarsest image of a raster that is not coarser than a view, which steps over `step` pixels from pixel to pixel. */
export function chooseLevel(raster: RasterInfo, step: number): ChosenLevel {
  const overviews = raster.overviews.filter(
    (o) => o.samplesPerPixel === raster.samplesPerPixel && o.sampleType === raster.sampleType,
  )
  const levels: readonly { readonly level: RasterLevel; readonly mask: RasterLevel | null }[] = [
    { level: raster, mask: raster.mask },
    ...overviews.map((overview) => ({ level: overview, mask: overview.mask })),
  ]
  const fitting = levels.findLastIndex(({ level }) => raster.width / level.width <= step * 1.001)
  const index = Math.max(0, fitting)
  const { level, mask } = levels[index] as (typeof levels)[number]
  return { level, mask, index, factorX: raster.width / level.width, factorY: raster.height / level.height }
}

/** Pixels of the full resolution per pixel of a view; 1 if unknown. */
export function stepOf(project: ToSource, { x, y, width, height }: PixelRect): number {
  const places = new Float64Array(6)
  for (const [u, v] of PROBES) {
    const [column, row] = [x + u * width, y + v * height]
    project(column, row, places, 0)
    project(column + 1, row, places, 2)
    project(column, row + 1, places, 4)
    const [ax, ay, bx, by, cx, cy] = places as unknown as readonly [number, number, number, number, number, number]
    const area = Math.abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    if (area > 0 && Number.isFinite(area)) return Math.sqrt(area)
  }
  return 1
}

const PROBES = [
  [0.5, 0.5],
  [0.25, 0.25],
  [0.75, 0.25],
  [0.25, 0.75],
  [0.75, 0.75],
] as const
