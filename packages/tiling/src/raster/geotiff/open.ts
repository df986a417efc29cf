import { TerraneError } from '@terrane/core'
import type { RasterInfo, RasterLevel } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'
import { readBands } from './bands.ts'
import type { Directory } from './directory.ts'
import { readHeader } from './directory.ts'
import { readGeoreference } from './georeference.ts'
import type { LevelLimits } from './level.ts'
import { readLevel } from './level.ts'
import { TAG } from './tags.ts'

/** Largest decoded block unless a caller says otherwise. */
const DEFAULT_BLOCK_BYTES = 64 * 1024 * 1024
const REDUCED = 1
const MASK = 4

/**
 * Reads a raster's headers: the first image, its overviews and its mask. Decodes no pixel.
 *
 * @param options.maxBlockBytes largest decoded block that is accepted; 64 MiB when absent
 * @throws NOT_A_GEOTIFF, GEOTIFF_MALFORMED, GEOTIFF_TRUNCATED, UNSUPPORTED_COMPRESSION, UNSUPPORTED_DTYPE,
 * UNSUPPORTED_LAYOUT, BLOCK_TOO_LARGE
 */
export function openGeoTiff(source: ByteSource, options: { readonly maxBlockBytes?: number } = {}): RasterInfo {
  const { littleEndian, directories } = readHeader(source)
  const [main, ...others] = directories as readonly [Directory, ...Directory[]]
  const limits: LevelLimits = { sourceBytes: source.size, blockBytes: options.maxBlockBytes ?? DEFAULT_BLOCK_BYTES }
  const level = readLevel(main, littleEndian, limits)
  const masks = others.filter((directory) => (directory.integer(TAG.newSubfileType, 0) & MASK) !== 0)
  const maskOf = ({ width, height }: RasterLevel): RasterLevel | null => {
    const mask = masks.find((d) => d.integer(TAG.imageWidth, 0) === width && d.integer(TAG.imageLength, 0) === height)
    return mask === undefined ? null : readLevel(mask, littleEndian, limits)
  }
  const overviews = others
    .filter((directory) => directory.integer(TAG.newSubfileType, 0) === REDUCED)
    .flatMap((directory) => readOverview(directory, littleEndian, limits))
    .map((overview) => ({ ...overview, mask: maskOf(overview) }))
  const { heights, ...georeference } = readGeoreference(main)
  return {
    ...level,
    bytes: source.size,
    ...readBands(main, level, heights),
    mask: maskOf(level),
    overviews: overviews.toSorted((a, b) => b.width - a.width),
    ...georeference,
  }
}

/** Overviews only make sampling cheaper: one that cannot be read is left out, and the image is used instead. */
function readOverview(directory: Directory, littleEndian: boolean, limits: LevelLimits): RasterLevel[] {
  try {
    return [readLevel(directory, littleEndian, limits)]
  } catch (error) {
    if (error instanceof TerraneError) return []
    throw error
  }
}
