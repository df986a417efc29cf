import { rasterTooLarge, sceneUnusable, unsupportedLayout } from '../errors.ts'
import type { Guard } from '../errors.ts'
import { SAMPLE_BYTES } from '../decode/samples.ts'
import type { Affine, BandColor, RasterInfo, SampleType } from '../raster-info.ts'
import { georeferencedPlacement, placementOf } from './placement.ts'
import type { Placement } from './placement.ts'
import { ALL_BANDS } from './scene.ts'
import type { Scene, SceneBand, ScenePiece } from './scene.ts'
import { commonType, withFraction } from './sample-types.ts'

/** Side of the tiles of a stacked file. */
export const STACK_TILE = 512
/** A tile of each band is held at once. */
const MAX_BANDS = 128
/** Blocks of a file, as the reader allows them. */
const MAX_BLOCKS = 1 << 20

/** A piece with its place on the grid. */
export interface PlannedPiece extends Omit<ScenePiece, 'place'> {
  readonly placement: Placement
  /** The stored value of its file that means "no data"; null for none. */
  readonly nodata: number | null
}

/** A band of the stacked file. */
export interface PlannedBand {
  readonly name: string | null
  readonly color: BandColor
  readonly scale: number
  readonly offset: number
  /** What pixels without data have in its files; null for none. */
  readonly nodata: number | null
  readonly pieces: readonly PlannedPiece[]
}

/** How files become one. */
export interface StackPlan {
  readonly width: number
  readonly height: number
  readonly affine: Affine
  /** The file whose reference system is taken. */
  readonly georeferenceOf: number
  readonly type: SampleType
  readonly nodata: number | null
  readonly bands: readonly PlannedBand[]
  readonly mask: { readonly file: number; readonly band: number; readonly placement: Placement } | null
}

/**
 * The grid, the type and the bands of the stacked file.
 *
 * @param files headers of the scene's files, by their number
 * @throws SCENE_UNUSABLE, NO_GEOREFERENCE, UNSUPPORTED_LAYOUT, size_guard_exceeded
 */
export function planStack(files: readonly RasterInfo[], scene: Scene, maxBytes?: Guard): StackPlan {
  const bands = scene.bands.flatMap((band) => expand(band, files))
  if (bands.length === 0) throw sceneUnusable({ why: 'no band is named' })
  if (bands.length > MAX_BANDS) throw sceneUnusable({ why: `it has ${bands.length} bands; ${MAX_BANDS} are allowed` })
  for (const { pieces } of bands) for (const piece of pieces) checkPiece(piece, files)
  const finest = finestOf(bands, files)
  const grid = scene.grid ?? gridOf(files[finest] as RasterInfo)
  const nodatas = bands.map((band) => nodataOf(band, files))
  const known = [...new Set(nodatas.filter((value) => value !== null))]
  const stored = commonType(bands.map((band) => typeOf(band, files)))
  // Where "no data" differs from band to band there is no value that means it everywhere but NaN.
  const type = known.length > 1 ? withFraction(stored) : stored
  const planned = bands.map((band, i) => ({
    name: band.name,
    color: band.color ?? ('undefined' as const),
    ...scaleOf(band, files),
    nodata: nodatas[i] ?? null,
    pieces: band.pieces.map((piece) => planPiece(piece, nodatas[i] ?? null, { files, grid, scene, finest })),
  }))
  guardBytes(grid, planned.length, type, maxBytes)
  const { mask } = scene
  return {
    ...grid,
    georeferenceOf: finest,
    type,
    nodata: known.length > 1 ? Number.NaN : (known[0] ?? null),
    bands: planned,
    mask: mask && {
      file: mask.file,
      band: mask.band,
      placement: georeferencedPlacement(grid, files[mask.file] as RasterInfo, files[finest] as RasterInfo),
    },
  }
}

/** All bands of a file as bands of their own, alpha without. */
function expand(band: SceneBand, files: readonly RasterInfo[]): SceneBand[] {
  const [piece] = band.pieces
  if (piece === undefined || piece.band !== ALL_BANDS) return [band]
  const { bands, palette } = files[piece.file] as RasterInfo
  if (palette !== null) throw unsupportedLayout({ layout: 'A palette among the bands of a scene' })
  const opaque = bands.filter(({ color }) => color !== 'alpha')
  return opaque.map(({ index, name, color }) => ({
    ...band,
    name: opaque.length === 1 ? (band.name ?? name) : name,
    color,
    pieces: [{ ...piece, band: index }],
  }))
}

function checkPiece({ file, band }: ScenePiece, files: readonly RasterInfo[]): void {
  const { samplesPerPixel, color } = files[file] as RasterInfo
  if (band >= samplesPerPixel) {
    throw sceneUnusable({ why: `band ${band + 1} is asked of a file that has ${samplesPerPixel}` })
  }
  if (color === 'gray-inverted')
    throw unsupportedLayout({ layout: 'An image whose zero is white, among the bands of a scene' })
}

/** The file with the smallest pixels. @throws SCENE_UNUSABLE when a band is of no file */
function finestOf(bands: readonly SceneBand[], files: readonly RasterInfo[]): number {
  const used = [...new Set(bands.flatMap(({ pieces }) => pieces.map(({ file }) => file)))]
  const area = (file: number): number => {
    const [, a, b, , c, d] = files[file]?.affine ?? [0, Infinity, 0, 0, 0, Infinity]
    return Math.abs(a * d - b * c)
  }
  const [first, ...others] = used
  if (first === undefined) throw sceneUnusable({ why: 'its bands have no files' })
  return others.reduce((best, file) => (area(file) < area(best) * (1 - 1e-9) ? file : best), first)
}

function gridOf({ width, height, affine }: RasterInfo): { width: number; height: number; affine: Affine } {
  if (affine === null) throw sceneUnusable({ why: 'a file has no georeference' })
  return { width, height, affine }
}

function typeOf({ type, pieces }: SceneBand, files: readonly RasterInfo[]): SampleType {
  return type ?? commonType(pieces.map(({ file }) => (files[file] as RasterInfo).sampleType))
}

function nodataOf({ nodata, pieces }: SceneBand, files: readonly RasterInfo[]): number | null {
  if (nodata !== null || pieces.some(({ place }) => place !== null)) return nodata
  return pieces.map(({ file }) => (files[file] as RasterInfo).nodata).find((value) => value !== null) ?? null
}

function scaleOf(
  { scale, offset, pieces }: SceneBand,
  files: readonly RasterInfo[],
): { scale: number; offset: number } {
  const [piece] = pieces
  const own = piece && piece.place === null ? (files[piece.file] as RasterInfo).bands[piece.band] : undefined
  return { scale: scale ?? own?.scale ?? 1, offset: offset ?? own?.offset ?? 0 }
}

interface PieceContext {
  readonly files: readonly RasterInfo[]
  readonly grid: { readonly width: number; readonly height: number; readonly affine: Affine }
  readonly scene: Scene
  readonly finest: number
}

function planPiece(
  { place, ...piece }: ScenePiece,
  nodata: number | null,
  { files, grid, finest }: PieceContext,
): PlannedPiece {
  const raster = files[piece.file] as RasterInfo
  const placement =
    place === null
      ? georeferencedPlacement(grid, raster, files[finest] as RasterInfo)
      : placementOf(place, grid, raster)
  const [, xc, xr, , yc, yr] = placement.map
  if (piece.resampling === 'bilinear' && Math.max(Math.hypot(xc, yc), Math.hypot(xr, yr)) > 1 + 1e-6) {
    throw sceneUnusable({ why: 'pixels are to be made larger by bilinear resampling, which would leave some out' })
  }
  return { ...piece, placement, nodata: place === null ? nodata : piece.without }
}

function guardBytes(
  { width, height }: { readonly width: number; readonly height: number },
  bands: number,
  type: SampleType,
  guard: Guard | undefined,
): void {
  const blocks = Math.ceil(width / STACK_TILE) * Math.ceil(height / STACK_TILE) * (bands + 1)
  if (blocks > MAX_BLOCKS) throw sceneUnusable({ why: `${width} × ${height} pixels of ${bands} bands are too many` })
  const figure = width * height * bands * SAMPLE_BYTES[type]
  if (guard !== undefined && guard.limit > 0 && figure > guard.limit) throw rasterTooLarge({ figure, ...guard })
}
