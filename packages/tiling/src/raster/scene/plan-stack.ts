import { rasterTooLarge, sceneUnusable, unsupportedLayout } from '../errors.ts'
import type { Guard } from '../errors.ts'
import { SAMPLE_BYTES } from '../decode/samples.ts'
import { storedNodata } from '../stored-nodata.ts'
import type { Affine, BandColor, RasterInfo, SampleType } from '../raster-info.ts'
import { checkSameCrs, coverOf, georeferencedPlacement, placementOf } from './placement.ts'
import type { Placement } from './placement.ts'
import { ALL_BANDS } from './scene.ts'
import type { Scene, SceneBand, ScenePiece } from './scene.ts'
import { commonType } from './sample-types.ts'

/** Side of the tiles of a stacked file. */
export const STACK_TILE = 512
/** Maximum number of bands, because a tile of each is in memory at once. */
const MAX_BANDS = 128
/** Maximum number of blocks of a file that the reader accepts. */
const MAX_BLOCKS = 1 << 20
/** Maximum number of reads of parts of tiles; a scene of many tiles may instead have this many layers. */
const MAX_READS = 100_000
const MAX_LAYERS = 32

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
  /** The nodata value after the pieces are combined, NaN for none. */
  readonly nodata: number
  /** Share of the grid that its file covers; 1 for a VRT, which places its sources itself. */
  readonly cover: number
  readonly pieces: readonly PlannedPiece[]
}

/** Plan of combining files. */
export interface StackPlan {
  readonly width: number
  readonly height: number
  readonly affine: Affine
  /** Index of the file whose CRS is used. */
  readonly georeferenceOf: number
  readonly type: SampleType
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
  const type = commonType(bands.map((band) => typeOf(band, files)))
  const { epsg } = files[finest] as RasterInfo
  if (scene.epsg !== null && epsg !== null && epsg !== scene.epsg) {
    throw sceneUnusable({ why: `it is in EPSG:${scene.epsg}, its files are in EPSG:${epsg}` })
  }
  const planned = bands.map((band, i) => planBand(band, i, { files, grid, finest }))
  guardBytes(grid, planned.length, type, maxBytes)
  guardReads(grid, planned)
  const { mask } = scene
  return {
    ...grid,
    georeferenceOf: finest,
    type,
    bands: planned,
    mask: mask && { file: mask.file, band: mask.band, placement: placeMask(mask.file, { files, grid, finest }) },
  }
}

/** Expands a file into its bands, without alpha. */
function expand(band: SceneBand, files: readonly RasterInfo[]): SceneBand[] {
  const [piece] = band.pieces
  if (piece === undefined || piece.band !== ALL_BANDS) return [band]
  const { bands } = files[piece.file] as RasterInfo
  const opaque = bands.filter(({ color }) => color !== 'alpha')
  return opaque.map(({ index, name, color }) => ({
    ...band,
    name: opaque.length === 1 ? (band.name ?? name) : name,
    color,
    pieces: [{ ...piece, band: index }],
  }))
}

function checkPiece({ file, band }: ScenePiece, files: readonly RasterInfo[]): void {
  const { samplesPerPixel, color, palette } = files[file] as RasterInfo
  if (band >= samplesPerPixel) {
    throw sceneUnusable({ why: `band ${band + 1} is asked of a file that has ${samplesPerPixel}` })
  }
  if (palette !== null) throw unsupportedLayout({ layout: 'A palette among the bands of a scene' })
  if (color === 'gray-inverted')
    throw unsupportedLayout({ layout: 'An image whose zero is white, among the bands of a scene' })
}

/** The file with the smallest pixels. @throws SCENE_UNUSABLE when no band has a file */
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
  readonly grid: Grid
  readonly finest: number
}

type Grid = Pick<StackPlan, 'width' | 'height' | 'affine'>

/** @throws SCENE_UNUSABLE for a file without a pixel of the grid */
function planBand(band: SceneBand, index: number, context: PieceContext): PlannedBand {
  const { name, color, nodata } = band
  const pieces = band.pieces.map((piece) => planPiece(piece, nodata, context))
  const isWhole = band.pieces.length === 1 && band.pieces[0]?.place === null
  const cover = isWhole ? coverOf(context.grid, pieces[0]!.placement) : 1
  if (cover === 0) throw sceneUnusable({ why: `band ${name ?? index + 1} lies elsewhere than the others` })
  const type = typeOf(band, context.files)
  return {
    name,
    color: color ?? 'undefined',
    ...scaleOf(band, context.files),
    // Where pieces overlap, a combined value may equal the nodata value.
    nodata: isWhole ? Number.NaN : storedNodata(nodata, { sampleType: type }),
    cover,
    pieces,
  }
}

function planPiece(
  { place, ...piece }: ScenePiece,
  nodata: number | null,
  { files, grid, finest }: PieceContext,
): PlannedPiece {
  const raster = files[piece.file] as RasterInfo
  checkSameCrs(raster, files[finest] as RasterInfo)
  const placement = place === null ? georeferencedPlacement(grid, raster) : placementOf(place, grid, raster)
  const [, xc, xr, , yc, yr] = placement.map
  if (piece.resampling === 'bilinear' && Math.max(Math.hypot(xc, yc), Math.hypot(xr, yr)) > 1 + 1e-6) {
    throw sceneUnusable({ why: 'pixels are to be made larger by bilinear resampling, which would leave some out' })
  }
  return { ...piece, placement, nodata: place === null ? (raster.nodata ?? nodata) : piece.without }
}

function placeMask(file: number, { files, grid, finest }: PieceContext): Placement {
  const raster = files[file] as RasterInfo
  checkSameCrs(raster, files[finest] as RasterInfo)
  const placement = georeferencedPlacement(grid, raster)
  if (coverOf(grid, placement) === 0) throw sceneUnusable({ why: 'the mask lies elsewhere than the bands' })
  return placement
}

/**
 * Limits the reads of parts of tiles, because a VRT of a few bytes may name its files thousands of times.
 *
 * @throws SCENE_UNUSABLE
 */
function guardReads({ width, height }: Grid, bands: readonly PlannedBand[]): void {
  const reads = bands
    .flatMap(({ pieces }) => pieces)
    .reduce((sum, { placement: { to } }) => sum + tilesAlong(to.x, to.width) * tilesAlong(to.y, to.height), 0)
  if (reads > Math.max(MAX_READS, MAX_LAYERS * bands.length * tilesAlong(0, width) * tilesAlong(0, height))) {
    throw sceneUnusable({ why: `its sources lie over each other too often (${reads} parts of tiles would be read)` })
  }
}

function tilesAlong(from: number, size: number): number {
  return size === 0 ? 0 : Math.ceil((from + size) / STACK_TILE) - Math.floor(from / STACK_TILE)
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
  if (guard !== undefined && guard.limit > 0 && figure > guard.limit) {
    const hint = `The files become one without compression. Name fewer bands, or raise ${guard.setting} (0 disables it).`
    throw rasterTooLarge({ figure, ...guard }, { hint })
  }
}
