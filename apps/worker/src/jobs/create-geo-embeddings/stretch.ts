import type { Queryable } from '@terrane/database'
import { findEmbeddings, findSources } from '@terrane/database/geoembeddings'
import type { ModelManifest } from '@terrane/embeddings'
import type { InspectedRaster, ModelUnit, Ranges, Scale } from '@terrane/tiling/raster'
import { groundSize } from './context.ts'
import { scaleFromUnusable } from './errors.ts'
import type { GeoRequest } from './request.ts'

/**
 * How pixels of a table were converted to the model's input: the object of the catalogue's `scale`, by which tables are
 * compared. Ranges are in physical values (stored · band_scale + band_offset; in decibels of that if `unit` is
 * decibels).
 */
export interface StoredStretch {
  readonly origin: Scale['origin']
  readonly unit: ModelUnit
  readonly min: readonly number[]
  readonly max: readonly number[]
  readonly decibels: boolean
  /** See {@link valuesOf}; absent in tables of earlier versions. */
  readonly values?: string
  /** Length of a pixel on the ground; absent in tables of earlier versions. */
  readonly pixel_meters?: number
  /** Largest share of clamped samples of a channel; absent in tables of many rasters and of earlier versions. */
  readonly clamped?: number
  readonly profile: string | null
  /** Common names of the channels; null when they are not known. */
  readonly channels: readonly string[] | null
  readonly band_scale: readonly number[]
  readonly band_offset: readonly number[]
  readonly nodata: number | string | null
}

/** The object that the catalogue and the result carry. */
export function storedStretch(
  inspected: InspectedRaster,
  scale: Scale,
  unit: ModelUnit,
  clamped: readonly number[],
): StoredStretch {
  const { raster, bands, profile, channels } = inspected
  const infos = bands.map((band) => raster.bands[band])
  return {
    origin: scale.origin,
    unit,
    min: scale.min,
    max: scale.max,
    decibels: scale.decibels ?? false,
    values: valuesOf(inspected),
    pixel_meters: Number(groundSize(inspected).toPrecision(6)),
    clamped: Number(Math.max(0, ...clamped).toFixed(4)),
    profile: profile?.profile.id ?? null,
    channels,
    band_scale: infos.map((info) => info?.scale ?? 1),
    band_offset: infos.map((info) => info?.offset ?? 0),
    // JSON has no NaN and no infinity.
    nodata: raster.nodata === null || Number.isFinite(raster.nodata) ? raster.nodata : String(raster.nodata),
  }
}

/** Kind of a raster's values: the profile's unit, else `physical` with a scale or offset, else the sample type. */
function valuesOf({ raster, bands, profile }: InspectedRaster): string {
  if (profile !== null) return profile.profile.unit === 'byte' ? 'uint8' : profile.profile.unit
  if (raster.palette !== null) return 'uint8'
  const isStored = bands.every((band) => raster.bands[band]?.scale === 1 && raster.bands[band]?.offset === 0)
  return isStored ? raster.sampleType : 'physical'
}

/** The stretch of a table, for rasters that are to be comparable with it. */
export interface ReferenceStretch {
  readonly ranges: Ranges
  readonly profile: string | null
  readonly channels: readonly string[] | null
  readonly bands: readonly number[] | null
  /** See {@link valuesOf}; null when it is not known. */
  readonly values: string | null
  /** The caller stated the range and is responsible for the units. */
  readonly isExplicit: boolean
}

/** Differences between the channels or values of a raster and those of a stretch; null when there are none. */
export function differenceFrom(reference: ReferenceStretch, inspected: InspectedRaster): string | null {
  const { channels } = inspected
  if (reference.channels !== null && channels !== null && reference.channels.join() !== channels.join()) {
    return `its channels are ${channels.join(', ')}, those of the table ${reference.channels.join(', ')}`
  }
  const values = valuesOf(inspected)
  if (reference.isExplicit || !reference.values || reference.values === values) return null
  return `its values are ${describeValues(values)}, those of the table ${describeValues(reference.values)}`
}

function describeValues(values: string): string {
  if (values === 'physical') return 'physical by scale tags'
  return /^(u?int|float)/.test(values) ? `${values} as stored` : values
}

/**
 * The stretch of a table of this project.
 *
 * @throws SCALE_FROM_UNUSABLE when there is no such table, its model has another number of channels or unit, or it was
 * not made from rasters
 */
export async function referenceOfTable(
  database: Queryable,
  table: string,
  { input }: ModelManifest,
): Promise<ReferenceStretch> {
  const [channels, wantedUnit] = [input.bands.length, input.unit ?? 'scaled']
  const entry = await findEmbeddings(database, table)
  if (!entry) throw scaleFromUnusable({ table, why: 'there is no such embedding table' })
  const stretch = entry.scale as Partial<StoredStretch> | null
  const { min, max } = stretch ?? {}
  if (!min || !max) throw scaleFromUnusable({ table, why: 'it was not made of a raster' })
  if (min.length !== channels) {
    throw scaleFromUnusable({ table, why: `it has ${min.length} channels and the model takes ${channels}` })
  }
  const unit = stretch?.unit ?? 'scaled'
  if (unit !== wantedUnit) {
    throw scaleFromUnusable({ table, why: `its values are ${unit}, the model takes ${wantedUnit}` })
  }
  return {
    ranges: min.map((low, i) => [low, max[i] as number] as const),
    profile: stretch?.profile ?? null,
    channels: stretch?.channels ?? null,
    bands: entry.bands,
    values: stretch?.values ?? (await oldValues(database, table, stretch ?? {})),
    isExplicit: stretch?.origin === 'explicit',
  }
}

/** The stretch of the table that a request names in `scaleFrom`; null without one. @throws as {@link referenceOfTable} */
export async function referenceOfRequest(
  database: Queryable,
  { scaleFrom }: GeoRequest,
  manifest: ModelManifest,
): Promise<ReferenceStretch | null> {
  return scaleFrom === null ? null : referenceOfTable(database, scaleFrom, manifest)
}

/** Kind of values of a table that does not state it; null with a profile, which defines it. */
async function oldValues(
  database: Queryable,
  table: string,
  { profile, band_scale: scale = [], band_offset: offset = [] }: Partial<StoredStretch>,
): Promise<string | null> {
  if (profile) return null
  if (scale.some((one) => one !== 1) || offset.some((one) => one !== 0)) return 'physical'
  return (await findSources(database, table)).find(({ dataType }) => dataType !== null)?.dataType ?? null
}
