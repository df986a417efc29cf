import type { Queryable } from '@terrane/database'
import { findEmbeddings, findSources } from '@terrane/database/geoembeddings'
import type { InspectedRaster, ModelUnit, Ranges, Scale } from '@terrane/tiling/raster'
import { groundSize } from './context.ts'
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
  /** See {@link valuesOf}; absent in tables of before. */
  readonly values?: string
  /** Length of a pixel on the ground; absent in tables of before. */
  readonly pixel_meters?: number
  /** Largest share of clamped samples of a channel; absent in tables of many rasters and of before. */
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
    // JSON knows no NaN and no infinity.
    nodata: raster.nodata === null || Number.isFinite(raster.nodata) ? raster.nodata : String(raster.nodata),
  }
}

/**
 * What the numbers of a raster are: the unit of its sensor's profile, else `physical` where the file states scale or offset,
 * else the type of the stored samples.
 */
function valuesOf({ raster, bands, profile }: InspectedRaster): string {
  if (profile !== null) return profile.profile.unit === 'byte' ? 'uint8' : profile.profile.unit
  if (raster.palette !== null) return 'uint8'
  const isStored = bands.every((band) => raster.bands[band]?.scale === 1 && raster.bands[band]?.offset === 0)
  return isStored ? raster.sampleType : 'physical'
}

/** What another table's stretch asks of a raster that is to compare with it. */
export interface TakenStretch {
  readonly ranges: Ranges
  readonly profile: string | null
  readonly channels: readonly string[] | null
  readonly bands: readonly number[] | null
  /** See {@link valuesOf}; null when it is not known. */
  readonly values: string | null
  /** The caller stated the range, and answers for the units. */
  readonly isExplicit: boolean
}

/** Why the values of a raster are not those that a stretch is of; null when they are. */
export function whyOther(taken: TakenStretch, inspected: InspectedRaster): string | null {
  const { channels } = inspected
  if (taken.channels !== null && channels !== null && taken.channels.join() !== channels.join()) {
    return `its channels are ${channels.join(', ')}, those of the table ${taken.channels.join(', ')}`
  }
  const values = valuesOf(inspected)
  if (taken.isExplicit || !taken.values || taken.values === values) return null
  return `its values are ${describeValues(values)}, those of the table ${describeValues(taken.values)}`
}

function describeValues(values: string): string {
  if (values === 'physical') return 'physical by scale tags'
  return /^(u?int|float)/.test(values) ? `${values} as stored` : values
}

/**
 * The stretch of a table of this project.
 *
 * @throws SCALE_FROM_UNUSABLE when there is no such table, its model has another number of channels or unit, or it is none
 * of a raster
 */
export async function takeStretch(
  database: Queryable,
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
    values: stretch?.values ?? (await oldValues(database, table, stretch ?? {})),
    isExplicit: stretch?.origin === 'explicit',
  }
}

/** The values of a table that does not state them; a profile sees to its own. */
async function oldValues(
  database: Queryable,
  table: string,
  { profile, band_scale: scale = [], band_offset: offset = [] }: Partial<StoredStretch>,
): Promise<string | null> {
  if (profile) return null
  if (scale.some((one) => one !== 1) || offset.some((one) => one !== 0)) return 'physical'
  return (await findSources(database, table)).find(({ dataType }) => dataType !== null)?.dataType ?? null
}
