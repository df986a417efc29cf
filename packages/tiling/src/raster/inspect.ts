import type { Guard } from './errors.ts'
import { rasterTooLarge, tooManyTiles } from './errors.ts'
import type { CrsCatalogue } from './crs/catalogue.ts'
import { crsLabel, createCrsCatalogue, isShifted } from './crs/catalogue.ts'
import { affineOf } from './crs/affine-of.ts'
import { resolveCrs } from './crs/resolve.ts'
import { openGeoTiff } from './geotiff/open.ts'
import type { EdgePolicy, TilePlan } from './plan.ts'
import { planTiles } from './plan.ts'
import { applyProfile, knowsBand } from './profile/apply-profile.ts'
import type { FoundProfile } from './profile/find-profile.ts'
import { checkBands, findProfile } from './profile/find-profile.ts'
import { selectBands } from './profile/select-bands.ts'
import type { Affine, RasterCrs, RasterInfo } from './raster-info.ts'
import type { ByteSource } from './source.ts'

/** Request of a job for a raster, before anything is decoded. */
export interface InspectRequest {
  readonly tileSize: number
  readonly stride?: number
  readonly edge?: EdgePolicy
  readonly alignGrid?: boolean
  /** 0-based band indices; when absent, the bands that `channels` name. */
  readonly bands?: readonly number[]
  /** Channels of the model, in order: colours, common names or names of the sensor's bands. */
  readonly channels: readonly string[]
  /** Id of a sensor profile, or "none"; when absent, the one that the file states. */
  readonly profile?: string
  /**
   * Without `profile`, applies none, as in a table that this raster will be compared with. Unlike "none" it refuses
   * flags and angles.
   */
  readonly asStored?: boolean
  /** Defaults from a table that this raster will be compared with, for what neither request nor file states. */
  readonly otherwise?: { readonly profile: string | null; readonly bands: readonly number[] | null }
  /** Name of the file, which may state the product. */
  readonly fileName?: string
  readonly maxBytes?: Guard
  /** Maximum size of a decoded block in bytes; default as in `openGeoTiff`. */
  readonly maxBlockBytes?: number
  readonly maxTiles?: Guard
  /** EPSG code that replaces the CRS of the file. */
  readonly sourceSrs?: number
  /** The CRSs that footprints support; the built-in ones when absent. */
  readonly crs?: CrsCatalogue
}

/** A raster that passed every check, with its plan. Plain data: it can be posted to worker threads. */
export interface InspectedRaster {
  readonly raster: RasterInfo & { readonly affine: Affine }
  readonly plan: TilePlan
  /** One band index per channel. */
  readonly bands: readonly number[]
  readonly crs: RasterCrs
  /** Common name of each channel; null when one is not known. */
  readonly channels: readonly string[] | null
  readonly profile: FoundProfile | null
  readonly notices: readonly Notice[]
}

/** Warnings about how the raster was read. */
export interface Notice {
  readonly code: 'BANDS_GUESSED' | 'BAND_UNKNOWN' | 'DATUM_NOT_SHIFTED'
  readonly message: string
}

/**
 * Checks a raster in the order of cost: bytes, headers, tile count, georeference and CRS, bands. Decodes no pixel.
 *
 * @throws size_guard_exceeded, everything that `openGeoTiff` and `planTiles` throw, NO_GEOREFERENCE, UNSUPPORTED_CRS, CRS_NEEDS_GRID,
 * BAND_OUT_OF_RANGE, BAND_COUNT, NOT_IMAGERY, UNKNOWN_PROFILE, PROFILE_MISMATCH
 */
export function inspectGeoTiff(source: ByteSource, request: InspectRequest): InspectedRaster {
  enforce(request.maxBytes, source.size, rasterTooLarge)
  const { maxBlockBytes } = request
  return inspectRaster(openGeoTiff(source, maxBlockBytes === undefined ? {} : { maxBlockBytes }), request)
}

/** Like {@link inspectGeoTiff}, for a raster with known headers. */
export function inspectRaster(opened: RasterInfo, request: InspectRequest): InspectedRaster {
  const { maxTiles } = request
  const { fileName = '', otherwise } = request
  const stated = findProfile(opened, fileName, request.profile ?? (request.asStored === true ? 'none' : null))
  // The meaning of a single band's numbers depends on the band, so it must be known.
  const isKnown = stated?.by !== 'file' || knowsBand(opened, stated.profile, fileName)
  const found =
    (isKnown ? stated : null) ??
    (request.profile === undefined && otherwise?.profile ? findProfile(opened, fileName, otherwise.profile) : null)
  const raster = found === null ? opened : applyProfile(opened, found.profile, fileName)
  const { width, height } = raster
  const { tileSize, stride = tileSize, edge = 'pad', alignGrid = false } = request
  // Alignment needs the georeference, which is checked later; it adds at most one row and one column.
  const count = planTiles({ width, height, tileSize, stride, edge }).count
  enforce(maxTiles, count, tooManyTiles)
  const affine = affineOf(raster)
  const crs = resolveCrs(raster, request.crs ?? createCrsCatalogue(), request.sourceSrs ?? null)
  const plan = planTiles({ width, height, tileSize, stride, edge, alignGrid, affine })
  enforce(maxTiles, plan.count, tooManyTiles)
  const wanted = { indices: request.bands ?? null, names: request.channels, otherwise: otherwise?.bands ?? null }
  const { bands, channels, guessed } = selectBands(raster, found?.profile ?? null, wanted)
  if (request.profile !== 'none') checkBands(opened, fileName, found, bands)
  const notices = [
    ...(guessed ? [bandsGuessed(raster, bands, request.channels)] : []),
    ...datumNotices(crs, ' Send sourceSrs, or have the operator add a definition with a shift.'),
    ...(isKnown || found !== null ? [] : [bandUnknown(stated.profile.id)]),
  ]
  return { raster: { ...raster, affine }, plan, bands, crs, channels, profile: found, notices }
}

/** A warning where no shift of the datum is published. @param remedy a sentence with a space before it */
export function datumNotices(crs: RasterCrs, remedy = ''): readonly Notice[] {
  if (isShifted(crs)) return []
  const message = `No shift of the datum of ${crsLabel(crs)} to WGS 84 is published, so its longitudes and latitudes were taken as those of WGS 84, as PROJ does: places may be off by some hundred meters.${remedy}`
  return [{ code: 'DATUM_NOT_SHIFTED', message }]
}

function bandUnknown(profile: string): Notice {
  return {
    code: 'BAND_UNKNOWN',
    message: `The file is of the product of profile ${profile} and does not say which band it holds: its values were taken as they are stored. Send the profile.`,
  }
}

function bandsGuessed({ bands }: RasterInfo, chosen: readonly number[], names: readonly string[]): Notice {
  return {
    code: 'BANDS_GUESSED',
    message:
      `The raster has ${bands.length} bands and does not name all that the model wants (${names.join(', ')}); ` +
      `bands ${chosen.join(', ')} were taken by their order. Send bands, or the profile of the sensor.`,
  }
}

function enforce(guard: Guard | undefined, figure: number, error: typeof tooManyTiles): void {
  if (guard !== undefined && guard.limit > 0 && figure > guard.limit) throw error({ figure, ...guard })
}
