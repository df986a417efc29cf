import type { FoundEmbeddings } from '@terrane/database/geoembeddings'
import { readDrawn, type ValueLine } from '@terrane/tiling/raster'
import type { StoredStretch } from '../jobs/create-geo-embeddings/stretch.ts'
import { chipBands, chipRescale, chipUnits } from './errors.ts'

/** Conversion of the colours of a PNG to values of a table's rasters. */
export interface ChipValues {
  /** The colour of each channel, from 0; null to choose by name. */
  readonly bands: readonly number[] | null
  /** Conversions for red, green and blue, or for gray. */
  readonly lines: readonly ValueLine[]
}

const COLOURS = [0, 1, 2]

/**
 * Meaning of the bytes of a PNG, by the caller's `rescale` or by the picture's own metadata; null where neither gives
 * it.
 *
 * @throws INVALID_SCALE, CHIP_UNITS_UNKNOWN where a colormap drew it, CHIP_BANDS_DIFFER
 */
export function valuesOfPng(png: Uint8Array, rescale: string | undefined, table: FoundEmbeddings): ChipValues | null {
  const stretch = (table.scale ?? {}) as Partial<StoredStretch>
  if (rescale !== undefined) return { bands: null, lines: linesOf(rangesOf(rescale), null, stretch) }
  const drawn = readDrawn(png)
  if (drawn === null) return null
  if (drawn.rescale === null) {
    throw chipUnits({ table: table.tableName, why: 'its colours are those of a colormap' })
  }
  const bands = table.bands?.map((band) => drawn.bidx.indexOf(band + 1)) ?? null
  if (bands?.includes(-1)) {
    const wanted = [...new Set(table.bands)].map((band) => band + 1)
    throw chipBands({ table: table.tableName, wanted, drawn: drawn.bidx })
  }
  return { bands, lines: linesOf(drawn.rescale, bands, stretch) }
}

/** Conversions from bytes to stored values, and from those to physical values by the scale of the table's rasters. */
function linesOf(
  ranges: readonly (readonly [number, number])[],
  bands: readonly number[] | null,
  { band_scale: scales = [], band_offset: offsets = [] }: Partial<StoredStretch>,
): ValueLine[] {
  return COLOURS.map((colour) => {
    const channel = Math.max(0, bands === null ? colour : bands.indexOf(colour))
    const [scale, offset] = [scales[channel] ?? scales[0] ?? 1, offsets[channel] ?? offsets[0] ?? 0]
    const [min, max] = ranges[colour] ?? ranges[0]!
    return { scale: ((max - min) / 255) * scale, offset: min * scale + offset }
  })
}

function rangesOf(text: string): (readonly [number, number])[] {
  const numbers = text.split(',').map(Number)
  const ranges = Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i]!, numbers[2 * i + 1]!] as const)
  const isWhole = numbers.length === 2 || numbers.length === 2 * COLOURS.length
  if (isWhole && ranges.every(([min, max]) => Number.isFinite(max - min) && min < max)) return ranges
  throw chipRescale({ text, why: 'must be one range, or one for each of three colours' })
}
