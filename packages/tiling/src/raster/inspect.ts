import type { Guard } from './errors.ts'
import { bandCount, bandOutOfRange, noGeoreference, rasterTooLarge, tooManyTiles, unsupportedCrs } from './errors.ts'
import type { CrsCatalogue } from './footprint/crs.ts'
import { createCrsCatalogue } from './footprint/crs.ts'
import { openGeoTiff } from './geotiff/open.ts'
import type { EdgePolicy, TilePlan } from './plan.ts'
import { planTiles } from './plan.ts'
import type { Affine, RasterCrs, RasterInfo } from './raster-info.ts'
import type { ByteSource } from './source.ts'

/** What a job wants of a raster, before anything is decoded. */
export interface InspectRequest {
  readonly tileSize: number
  readonly stride?: number
  readonly edge?: EdgePolicy
  readonly alignGrid?: boolean
  /** 0-based band indices; the colour bands when absent. */
  readonly bands?: readonly number[]
  /** How many channels the model takes. */
  readonly channels: number
  readonly maxBytes?: Guard
  readonly maxTiles?: Guard
  /** The CRSs that footprints can be made of; the built-in families when absent. */
  readonly crs?: CrsCatalogue
}

/** A raster that passed every check, with its plan. Plain data: it can be posted to worker threads. */
export interface InspectedRaster {
  readonly raster: RasterInfo & { readonly affine: Affine }
  readonly plan: TilePlan
  /** One band index per channel. */
  readonly bands: readonly number[]
  readonly crs: RasterCrs
}

/**
 * Checks a raster in the order of cost: bytes, headers, tile count, georeference and CRS, bands. Decodes no pixel.
 *
 * @throws size_guard_exceeded, everything that `openGeoTiff` and `planTiles` throw, NO_GEOREFERENCE, UNSUPPORTED_CRS,
 * BAND_OUT_OF_RANGE, BAND_COUNT
 */
export function inspectGeoTiff(source: ByteSource, request: InspectRequest): InspectedRaster {
  const { maxBytes, maxTiles } = request
  enforce(maxBytes, source.size, rasterTooLarge)
  const raster = openGeoTiff(source)
  const { width, height, affine } = raster
  const { tileSize, stride = tileSize, edge = 'pad', alignGrid = false } = request
  // Alignment needs the georeference, which is checked after the count; it adds one row and column at most.
  const count = planTiles({ width, height, tileSize, stride, edge }).count
  enforce(maxTiles, count, tooManyTiles)
  if (affine === null) throw noGeoreference({ why: whyNoAffine(raster) })
  const crs = resolveCrs(raster, request.crs ?? createCrsCatalogue())
  const plan = planTiles({ width, height, tileSize, stride, edge, alignGrid, affine })
  enforce(maxTiles, plan.count, tooManyTiles)
  const bands = resolveBands(raster, request.bands ?? null, request.channels)
  return { raster: { ...raster, affine }, plan, bands, crs }
}

function enforce(guard: Guard | undefined, figure: number, error: typeof tooManyTiles): void {
  if (guard !== undefined && guard.limit > 0 && figure > guard.limit) throw error({ figure, ...guard })
}

function whyNoAffine({ groundControlPoints }: RasterInfo): string {
  return groundControlPoints > 1
    ? `it has ${groundControlPoints} ground control points and no transform`
    : 'no transform is stored, or one that has no inverse'
}

/** The definition of the CRS that a raster names. @throws NO_GEOREFERENCE, UNSUPPORTED_CRS */
export function resolveCrs({ epsg, crsName, crsUnit }: RasterInfo, catalogue: CrsCatalogue): RasterCrs {
  if (epsg === null && crsName === null) throw noGeoreference({ why: 'no coordinate reference system is stored' })
  if (epsg === null) throw unsupportedCrs({ crs: `"${crsName}", which has no EPSG code,` })
  const crs = catalogue.find(epsg)
  if (crs === null) throw unsupportedCrs({ crs: `EPSG:${epsg}${crsName === null ? '' : ` (${crsName})`}` })
  const unit = unitOf(crs)
  if (crsUnit !== null && unit !== null && crsUnit !== unit) {
    throw unsupportedCrs({ crs: `EPSG:${epsg} in the unit EPSG:${crsUnit} instead of EPSG:${unit}` })
  }
  return crs
}

/** The EPSG code of the unit of a CRS's axes; null when its definition spells out a length. */
function unitOf({ definition }: RasterCrs): number | null {
  if (definition.includes('+proj=longlat')) return DEGREE
  return definition.includes('+to_meter')
    ? null
    : (LENGTH_UNITS.get(/\+units=(\S+)/.exec(definition)?.[1] ?? 'm') ?? null)
}

const DEGREE = 9102
const LENGTH_UNITS: ReadonlyMap<string, number> = new Map([
  ['m', 9001],
  ['ft', 9002],
  ['us-ft', 9003],
])

/**
 * One band per channel. Absent: red, green and blue where they are declared, otherwise the first bands; alpha never. A
 * single band serves all channels.
 */
function resolveBands(raster: RasterInfo, requested: readonly number[] | null, channels: number): number[] {
  const selected = requested ?? defaultBands(raster, channels)
  const bands = raster.bands.length
  selected.forEach((band, position) => {
    if (!Number.isInteger(band) || band < 0 || band >= bands) throw bandOutOfRange({ band, position, bands })
  })
  if (selected.length === 1) return Array.from({ length: channels }, () => selected[0] as number)
  if (selected.length !== channels) throw bandCount({ bands: selected.length, channels })
  return [...selected]
}

function defaultBands({ bands }: RasterInfo, channels: number): number[] {
  const opaque = bands.filter(({ color }) => color !== 'alpha').map(({ index }) => index)
  const rgb = (['red', 'green', 'blue'] as const).map((color) => bands.findIndex((band) => band.color === color))
  if (channels === 3 && rgb.every((index) => index !== -1)) return rgb
  return opaque.length < channels ? opaque : opaque.slice(0, channels)
}
