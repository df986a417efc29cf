import { TerraneError } from '@terrane/core'
import type { RasterInfo, RasterLevel } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'
import { readBands } from './bands.ts'
import type { Directory } from './directory.ts'
import { readHeader } from './directory.ts'
import { readGeoreference } from './georeference.ts'
import { readLevel } from './level.ts'
import { TAG } from './tags.ts'

/** Default maximum bytes of a decoded block. */
const DEFAULT_BLOCK_BYTES = 64 * 1024 * 1024
/**
 * Maximum number of blocks of all images. The tables of a small file may overlap, so that each could need much memory.
 */
const MAX_BLOCKS = 1 << 22
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
  const limits = { sourceBytes: source.size, blockBytes: options.maxBlockBytes ?? DEFAULT_BLOCK_BYTES }
  let blocks = MAX_BLOCKS
  const read = (directory: Directory): RasterLevel => {
    const level = readLevel(directory, littleEndian, { ...limits, blocks })
    blocks -= level.blockOffsets.length
    return level
  }
  const level = read(main)
  const masks = others.filter((directory) => (directory.integer(TAG.newSubfileType, 0) & MASK) !== 0)
  const maskOf = ({ width, height }: RasterLevel): RasterLevel | null => {
    const mask = masks.find((d) => d.integer(TAG.imageWidth, 0) === width && d.integer(TAG.imageLength, 0) === height)
    return mask === undefined ? null : read(mask)
  }
  const mask = maskOf(level)
  const overviews = others
    .filter((directory) => directory.integer(TAG.newSubfileType, 0) === REDUCED)
    .flatMap((directory) => readOverview(directory, read))
    .filter(({ width, height }) => width <= level.width && height <= level.height)
    .map((overview) => ({ ...overview, mask: maskOf(overview) }))
  const { heights, ...georeference } = readGeoreference(main)
  return {
    ...level,
    bytes: source.size,
    ...readBands(main, level, heights),
    mask,
    overviews: overviews.toSorted((a, b) => b.width - a.width),
    ...georeference,
  }
}

/** Overviews only make reading cheaper, so an unreadable one is left out and another image is used. */
function readOverview(directory: Directory, read: (directory: Directory) => RasterLevel): RasterLevel[] {
  try {
    return [read(directory)]
  } catch (error) {
    if (error instanceof TerraneError) return []
    throw error
  }
}
