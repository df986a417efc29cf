import type { RasterInfo } from '../raster-info.ts'
import type { Colormap } from './colormap.ts'
import type { Drawn } from './drawn.ts'
import type { Plane, ReadPixels } from './pixels.ts'

/** Conversion of samples to the colours of a picture: bands, value ranges and an optional colormap. */
export interface PaintStyle {
  /** 0-based, as read. */
  readonly bands: readonly number[]
  /** `[min, max]` of each band: mapped to 0 and 255. */
  readonly rescale: readonly (readonly [number, number])[]
  /** Whether physical values (stored · scale + offset) are rescaled instead of stored ones. */
  readonly unscale: boolean
  readonly colormap: Colormap | null
}

/** Facts of a raster that affect colours. */
export type PaintedRaster = Pick<RasterInfo, 'palette' | 'color' | 'bands'>

/** A picture: red, green, blue and alpha of each pixel, row by row. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly rgba: Uint8Array
  /** Meaning of the colours; absent for a palette. */
  readonly drawn?: Drawn
}

/** Paints pixels: a palette's own colours, a colormap over one band, three bands as red, green and blue, or one as gray. */
export function paint(raster: PaintedRaster, pixels: ReadPixels, style: PaintStyle): Picture {
  const { width, height, alpha } = pixels
  const rgba = new Uint8Array(4 * width * height)
  const first = pixels.planes[0] as Plane
  if (raster.palette !== null) paintPalette(rgba, first, alpha, raster.palette)
  else if (style.colormap !== null) paintColormap(rgba, first, alpha, style.colormap, lineOf(raster, style, 0))
  else {
    for (let channel = 0; channel < 3; channel++) {
      const band = pixels.planes.length === 1 ? 0 : channel
      stretch(rgba, channel, pixels.planes[band] as Plane, alpha, lineOf(raster, style, band))
    }
  }
  // Pixels without data keep their initial value: empty.
  if (raster.palette === null && style.colormap === null) {
    for (let i = 0, to = 3; i < alpha.length; i++, to += 4) rgba[to] = alpha[i] as number
  }
  return { width, height, rgba }
}

/** Linear functions from a stored value to 0 … 255, and to the value for colormaps. */
interface Line {
  readonly factor: number
  readonly shift: number
  readonly scale: number
  readonly offset: number
}

function lineOf(raster: PaintedRaster, { bands, rescale, unscale }: PaintStyle, index: number): Line {
  const band = raster.bands[bands[index] as number]
  const scale = unscale ? (band?.scale ?? 1) : 1
  const offset = unscale ? (band?.offset ?? 0) : 0
  const [min, max] = rescale[index] as readonly [number, number]
  const factor = 255 / (max - min)
  if (raster.color !== 'gray-inverted') return { factor: scale * factor, shift: (offset - min) * factor, scale, offset }
  return { factor: -scale * factor, shift: 255 - (offset - min) * factor, scale, offset }
}

function stretch(rgba: Uint8Array, channel: number, plane: Plane, alpha: Uint8Array, { factor, shift }: Line): void {
  for (let i = 0, to = channel; i < alpha.length; i++, to += 4) {
    if (alpha[i] !== 0) rgba[to] = toByte((plane[i] as number) * factor + shift)
  }
}

function toByte(value: number): number {
  return value <= 0 ? 0 : value >= 255 ? 255 : (value + 0.5) | 0
}

function paintPalette(rgba: Uint8Array, plane: Plane, alpha: Uint8Array, palette: Uint8Array): void {
  for (let i = 0; i < alpha.length; i++) {
    if (alpha[i] === 0) continue
    const from = 3 * (plane[i] as number)
    rgba[4 * i] = palette[from] ?? 0
    rgba[4 * i + 1] = palette[from + 1] ?? 0
    rgba[4 * i + 2] = palette[from + 2] ?? 0
    rgba[4 * i + 3] = 255
  }
}

function paintColormap(rgba: Uint8Array, plane: Plane, alpha: Uint8Array, colormap: Colormap, line: Line): void {
  for (let i = 0; i < alpha.length; i++) {
    if (alpha[i] === 0) continue
    const stored = plane[i] as number
    if (colormap.kind === 'ramp') {
      const from = 4 * toByte(stored * line.factor + line.shift)
      rgba.set(colormap.colors.subarray(from, from + 4), 4 * i)
      continue
    }
    const value = stored * line.scale + line.offset
    const color =
      colormap.kind === 'values'
        ? colormap.colors.get(value)
        : colormap.ranges.find(({ from, to }) => value >= from && value < to)?.color
    if (color) rgba.set(color, 4 * i)
  }
}
