import type { Affine, BandColor, SampleType } from '../raster-info.ts'
import type { PixelRect } from '../plan.ts'

/** Interpolation where grids differ. Where they agree, pixels are copied. */
export type Resampling = 'nearest' | 'bilinear'

/** A part of a band: pixels of a band of a file. */
export interface ScenePiece {
  /** Index of the file in the scene. */
  readonly file: number
  /** 0-based. */
  readonly band: number
  /** Source and target rectangle in pixels; null when both follow from the georeferences. */
  readonly place: { readonly from: PixelRect; readonly to: PixelRect } | null
  readonly resampling: Resampling
  /** Pixels with this value are left out; null for none. */
  readonly without: number | null
  /** Written value = stored value · ratio + shift. */
  readonly ratio: number
  readonly shift: number
}

/** A band of a scene. Later pieces cover earlier ones. */
export interface SceneBand {
  readonly name: string | null
  readonly color: BandColor | null
  /** Physical value = stored value · scale + offset; null for the file's own. */
  readonly scale: number | null
  readonly offset: number | null
  /** The value for "no data" if the files name none. */
  readonly nodata: number | null
  /** Type of the samples; null for the type of the files. */
  readonly type: SampleType | null
  readonly pieces: readonly ScenePiece[]
}

/** A band of flags or classes that masks pixels. */
export interface SceneMask {
  readonly file: number
  readonly band: number
  /** Classes that are left out. */
  readonly values: readonly number[]
  /** Bits, from 0, of flags: a pixel with one of them set is left out. */
  readonly bits: readonly number[]
}

/**
 * A raster whose bands are in separate files: assets of a STAC item, a list of files or a VRT. Files are referred to by
 * index. Plain data, which can be posted to a worker thread.
 */
export interface Scene {
  /** Null for the grid of the band with the smallest pixels. */
  readonly grid: { readonly width: number; readonly height: number; readonly affine: Affine } | null
  /** EPSG code that its files must have; null for any. */
  readonly epsg: number | null
  readonly bands: readonly SceneBand[]
  readonly mask: SceneMask | null
  /** Whether masks and alpha bands of the files are used. */
  readonly ownMasks: boolean
  /** GDAL's metadata of the file as a whole. */
  readonly tags: Readonly<Record<string, string>>
}

/** Index of the only file of a scene that uses all its bands unchanged; null for other scenes. */
export function plainFile({ grid, bands, mask }: Scene): number | null {
  const [first] = bands
  const piece = first?.pieces[0]
  if (bands.length !== 1 || first === undefined || first.pieces.length !== 1 || !piece || grid || mask) return null
  const isBare =
    first.name === null && first.scale === null && first.offset === null && first.nodata === null && first.type === null
  return isBare && piece.band === ALL_BANDS ? piece.file : null
}

/** Band number that stands for all bands of the file without alpha. */
export const ALL_BANDS = -1
