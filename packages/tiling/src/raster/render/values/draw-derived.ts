import { checkShown, defaultBands, spreadRanges } from '../bands.ts'
import { rememberLimits } from '../layer.ts'
import type { Layer, Limits } from '../layer.ts'
import { paint } from '../paint.ts'
import type { Picture } from '../paint.ts'
import type { RenderStyle } from '../style.ts'
import type { View } from '../view.ts'
import { applyColorFormula, parseColorFormula } from './color-formula.ts'
import { readValues } from './derive.ts'

/** Side in pixels of the picture whose values give the displayed range. */
const SAMPLED_SIDE = 256

/** The picture of an expression or an algorithm. @throws BANDS_NOT_SHOWN, and what `readValues` throws */
export async function drawDerived(layer: Layer, view: View, style: RenderStyle): Promise<Picture | null> {
  const values = await readValues(layer, view, style, defaultBands(layer.raster))
  if (values === null) return null
  const { pixels, isPicture } = values
  const count = pixels.planes.length
  checkShown(count, style.colormap !== undefined)
  const bands = pixels.planes.map((_, i) => i)
  const ranges = style.rescale ?? (isPicture ? [[0, 255] as const] : await derivedLimits(layer, style)(bands))
  const unit = bands.map((index) => ({ index, color: 'undefined', name: null, scale: 1, offset: 0 }) as const)
  const picture = paint({ palette: null, color: 'gray', bands: unit }, pixels, {
    bands,
    rescale: spreadRanges(ranges, count),
    unscale: false,
    colormap: style.colormap ?? null,
  })
  if (style.colorFormula !== undefined) applyColorFormula(picture.rgba, parseColorFormula(style.colorFormula))
  return picture
}

/** Maximum number of styles of a layer whose limits are cached. */
const KEPT = 64
const known = new WeakMap<Layer, Map<string, Limits>>()

/** The 2nd to the 98th percentile of the whole layer, read at low resolution. */
function derivedLimits(layer: Layer, style: RenderStyle): Limits {
  const base = layer.reference ?? layer
  const { expression, algorithm, bidx, nodata, unscale, resampling } = style
  const key = JSON.stringify([expression, algorithm, bidx, String(nodata), unscale, resampling])
  const ofLayer = known.get(base) ?? new Map<string, Limits>()
  known.set(base, ofLayer)
  const limits =
    ofLayer.get(key) ??
    rememberLimits(async () => {
      const view = base.wholeView(null, SAMPLED_SIDE)
      const values = await readValues(base, view, style, defaultBands(base.raster))
      if (values === null) return [[0, 1]]
      const { planes, alpha } = values.pixels
      return planes.map((plane) => {
        const sorted = Float64Array.from(plane.filter((_, i) => alpha[i] !== 0)).toSorted()
        const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] as number
        return [at(0.02), Math.max(at(0.98), at(0.02) + Number.EPSILON)] as const
      })
    })
  if (ofLayer.size >= KEPT) ofLayer.clear()
  ofLayer.set(key, limits)
  return limits
}
