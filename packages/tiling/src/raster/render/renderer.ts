import { createCrsCatalogue } from '../crs/catalogue.ts'
import type { CrsCatalogue } from '../crs/catalogue.ts'
import { affineOf } from '../crs/affine-of.ts'
import { resolveCrs } from '../crs/resolve.ts'
import { openGeoTiff } from '../geotiff/open.ts'
import type { RasterInfo } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'
import { createBlockCache, createBlockStore } from './blocks.ts'
import type { BlockCache, ByteSpan } from './blocks.ts'
import { bandsOf, checkShown, defaultBands, spreadRanges } from './bands.ts'
import { boundsOf } from './extent.ts'
import type { LngLatBox } from './extent.ts'
import { fileLayer } from './file-layer.ts'
import type { LayerFile } from './file-layer.ts'
import type { Layer, ZoomRange } from './layer.ts'
import { paint } from './paint.ts'
import type { Picture } from './paint.ts'
import type { RenderStyle } from './style.ts'
import { applyColorFormula, parseColorFormula } from './values/color-formula.ts'
import { drawDerived } from './values/draw-derived.ts'
import type { View } from './view.ts'

/** Facts of a raster for rendering. */
export interface RasterSummary extends ZoomRange {
  /** West, south, east, north in degrees; west is larger than east across the antimeridian. */
  readonly bounds: LngLatBox
  /** Null when the CRS has no code. */
  readonly epsg: number | null
}

/** Draws views of one raster. It belongs to one thread. */
export interface RasterRenderer extends RasterSummary {
  readonly raster: RasterInfo
  /** Name of its CRS. */
  readonly crsName: string
  /** The bands that are shown by default, 1-based. */
  readonly defaultBands: readonly number[]
  /** Layer that the values are read from. */
  readonly layer: Layer
  /** The range of stored values of each band that becomes 0 to 255: all of a byte, otherwise the 2nd to the 98th percentile. */
  limits(bidx: readonly number[]): Promise<readonly (readonly [number, number])[]>
  /** The image that a view is read from: 0 for the full resolution, 1 for the first usable overview, … */
  levelOf(view: View): number
  /**
   * The picture of a view; null outside of the raster.
   *
   * @throws BAND_OUT_OF_RANGE, BANDS_NOT_SHOWN, TILE_TOO_COARSE, CORRUPT_TILE
   */
  render(view: View, style?: RenderStyle): Promise<Picture | null>
}

export interface RendererOptions {
  readonly crs?: CrsCatalogue
  /** Memory for decoded blocks; 64 MiB when absent. */
  readonly cache?: BlockCache
  /** Called before reading, with the missing byte ranges of a picture; a slow source can fetch them at once. */
  readonly onPlan?: (spans: readonly ByteSpan[]) => void
}

const CACHE_BYTES = 64 * 1024 * 1024

/**
 * Opens a raster for rendering: headers, georeference, CRS.
 *
 * @throws what `openGeoTiff` throws, NO_GEOREFERENCE, UNSUPPORTED_CRS
 */
export function openRenderer(source: ByteSource, options: RendererOptions = {}): RasterRenderer {
  return rendererOf(wholeFileLayer(openLayerFile(source, options), options.crs))
}

/** A file for layers. @throws what `openGeoTiff` throws */
export function openLayerFile(source: ByteSource, { cache, onPlan }: Omit<RendererOptions, 'crs'>): LayerFile {
  const raster = openGeoTiff(source)
  const store = createBlockStore(source, raster.nodata ?? 0, cache ?? createBlockCache(CACHE_BYTES))
  return { source, raster, store, onPlan: onPlan ?? (() => undefined) }
}

/** A whole file as a layer, at its georeference. @throws NO_GEOREFERENCE, UNSUPPORTED_CRS */
export function wholeFileLayer(file: LayerFile, catalogue: CrsCatalogue = createCrsCatalogue()): Layer {
  const affine = affineOf(file.raster)
  const crs = resolveCrs({ ...file.raster, affine }, catalogue, null)
  return fileLayer(file, { affine, crs, clip: null })
}

/** Draws views of a layer. */
export function rendererOf(layer: Layer): RasterRenderer {
  const { raster, crs, minzoom, maxzoom } = layer
  return {
    raster,
    layer,
    bounds: boundsOf(layer.boxes),
    epsg: crs.epsg,
    crsName: crs.name,
    minzoom,
    maxzoom,
    defaultBands: defaultBands(raster).map((band) => band + 1),
    limits: async (bidx) => {
      const bands = bandsOf(raster, bidx)
      return storedRanges(raster, bands, await layer.limits(bands))
    },
    levelOf: (view) => layer.levelOf(view),
    async render(view, style = {}) {
      if (style.expression !== undefined || style.algorithm !== undefined) return drawDerived(layer, view, style)
      const bands = style.bidx === undefined ? defaultBands(raster) : bandsOf(raster, style.bidx)
      checkShown(bands.length, style.colormap !== undefined || raster.palette !== null)
      const choice = { bands, nodata: style.nodata ?? null, resampling: style.resampling ?? 'nearest' }
      const pixels = await layer.read(view, choice)
      if (pixels === null) return null
      const unscale = style.unscale ?? style.rescale === undefined
      const rescale = spreadRanges(style.rescale ?? (await layer.limits(bands)), bands.length)
      const picture = paint(raster, pixels, { bands, rescale, unscale, colormap: style.colormap ?? null })
      if (style.colorFormula !== undefined) applyColorFormula(picture.rgba, parseColorFormula(style.colorFormula))
      if (raster.palette !== null || style.colorFormula !== undefined) return picture
      const stored = unscale ? storedRanges(raster, bands, rescale) : rescale
      const drawn = { bidx: bands.map((band) => band + 1), rescale: style.colormap === undefined ? stored : null }
      return { ...picture, drawn }
    },
  }
}

/** Converts ranges of physical values to ranges of stored values. */
function storedRanges(
  raster: RasterInfo,
  bands: readonly number[],
  ranges: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  return bands.map((band, i) => {
    const { scale, offset } = raster.bands[band] ?? { scale: 1, offset: 0 }
    const [min, max] = ranges[i] as readonly [number, number]
    return [(min - offset) / scale, (max - offset) / scale]
  })
}
