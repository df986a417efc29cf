import { findEmbeddings, type Database } from '@terrane/database'
import type { InspectedRaster, ModelUnit, Ranges, Scale } from '@terrane/tiling/raster'
import { scaleNotTaken } from './errors.ts'

/**
 * How the pixels of a table became what its model saw: the object of the catalogue's `scale`, which tables are compared
 * by. Ranges are in physical values (stored · band_scale + band_offset; decibels of that where `unit` says so).
 */
export interface StoredStretch {
  readonly origin: Scale['origin']
  readonly unit: ModelUnit
  readonly min: readonly number[]
  readonly max: readonly number[]
  readonly decibels: boolean
  readonly profile: string | null
  /** Common names of the channels; null when they are not known. */
  readonly channels: readonly string[] | null
  readonly band_scale: readonly number[]
  readonly band_offset: readonly number[]
  readonly nodata: number | string | null
}

/** The object that the catalogue and the result carry. */
export function storedStretch(inspected: InspectedRaster, scale: Scale, unit: ModelUnit): StoredStretch {
  const { raster, bands, profile, channels } = inspected
  const infos = bands.map((band) => raster.bands[band])
  return {
    origin: scale.origin,
    unit,
    min: scale.min,
    max: scale.max,
    decibels: scale.decibels ?? false,
    profile: profile?.profile.id ?? null,
    channels,
    band_scale: infos.map((info) => info?.scale ?? 1),
    band_offset: infos.map((info) => info?.offset ?? 0),
    // JSON knows no NaN and no infinity.
    nodata: raster.nodata === null || Number.isFinite(raster.nodata) ? raster.nodata : String(raster.nodata),
  }
}

/** What another table's stretch asks of a raster that is to compare with it. */
export interface TakenStretch {
  readonly ranges: Ranges
  readonly profile: string | null
  readonly channels: readonly string[] | null
  readonly bands: readonly number[] | null
}

/**
 * The stretch of a table of this project.
 *
 * @throws SCALE_FROM_UNUSABLE when there is no such table, its model has another number of channels or unit, or it is none
 * of a raster
 */
export async function takeStretch(
  database: Database,
  table: string,
  wanted: { readonly channels: number; readonly unit: ModelUnit },
): Promise<TakenStretch> {
  const entry = await findEmbeddings(database, table)
  if (!entry) throw scaleNotTaken({ table, why: 'there is no such embedding table' })
  const stretch = entry.scale as Partial<StoredStretch> | null
  const { min, max } = stretch ?? {}
  if (!min || !max) throw scaleNotTaken({ table, why: 'it was not made of a raster' })
  if (min.length !== wanted.channels) {
    throw scaleNotTaken({ table, why: `it has ${min.length} channels and the model takes ${wanted.channels}` })
  }
  const unit = stretch?.unit ?? 'scaled'
  if (unit !== wanted.unit)
    throw scaleNotTaken({ table, why: `its values are ${unit}, the model takes ${wanted.unit}` })
  return {
    ranges: min.map((low, i) => [low, max[i] as number] as const),
    profile: stretch?.profile ?? null,
    channels: stretch?.channels ?? null,
    bands: entry.bands,
  }
}
