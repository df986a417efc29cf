import type { Colormap } from './colormap.ts'
import type { RenderResampling } from './layer.ts'
import type { AlgorithmParameters } from './values/algorithms.ts'

/** Style of a picture; defaults depend on the raster. */
export interface RenderStyle {
  /** 1-based band numbers: one, or three as red, green and blue. */
  readonly bidx?: readonly number[]
  /** `[min, max]` for all bands, or one per band; the limits of the raster by default. */
  readonly rescale?: readonly (readonly [number, number])[]
  /** Replaces the nodata value of the file. */
  readonly nodata?: number
  readonly unscale?: boolean
  readonly colormap?: Colormap
  readonly resampling?: RenderResampling
  /** Expression of bands by number or name, in place of `bidx`: `(b4-b1)/(b4+b1)`. */
  readonly expression?: string
  readonly algorithm?: { readonly name: string; readonly parameters: AlgorithmParameters }
  /** Formula for the colours: `gamma RGB 1.8`. */
  readonly colorFormula?: string
}
