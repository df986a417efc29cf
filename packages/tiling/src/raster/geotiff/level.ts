import {
  blockTooLarge,
  malformedGeoTiff,
  truncatedGeoTiff,
  unsupportedCompression,
  unsupportedLayout,
  unsupportedSamples,
} from '../errors.ts'
import { SAMPLE_BYTES } from '../decode/samples.ts'
import type { ColorModel, Compression, RasterLevel, SampleType } from '../raster-info.ts'
import type { Directory } from './directory.ts'
import { TAG } from './tags.ts'

/** Limits that bound the memory for small files. */
export interface LevelLimits {
  readonly sourceBytes: number
  /** Largest decoded block, in bytes. */
  readonly blockBytes: number
  /** Maximum number of blocks. */
  readonly blocks: number
}

const MAX_SIDE = 0x7fffffff
const MAX_SAMPLES = 4096
const MAX_JPEG_TABLES = 1 << 16
/** An uncompressed image in one strip is read in pieces of about this many bytes. */
const PIECE_BYTES = 1 << 18

const COMPRESSIONS: ReadonlyMap<number, Compression> = new Map([
  [1, 'none'],
  [5, 'lzw'],
  [7, 'jpeg'],
  [8, 'deflate'],
  [32773, 'packbits'],
  [32946, 'deflate'],
  [34887, 'lerc'],
  [50000, 'zstd'],
  [50001, 'webp'],
])

const REFUSED_COMPRESSIONS: ReadonlyMap<number, string> = new Map([
  [2, 'CCITT RLE'],
  [3, 'CCITT Group 3'],
  [4, 'CCITT Group 4'],
  [6, 'old-style JPEG'],
  [34661, 'JBIG'],
  [34676, 'SGI LogLuv'],
  [34712, 'JPEG 2000'],
  [34925, 'LZMA'],
  [50002, 'JPEG XL'],
])

const COLORS: ReadonlyMap<number, ColorModel> = new Map([
  [0, 'gray-inverted'],
  [1, 'gray'],
  [2, 'rgb'],
  [3, 'palette'],
  [4, 'mask'],
  [6, 'ycbcr'],
])

const REFUSED_COLORS: ReadonlyMap<number, string> = new Map([
  [5, 'CMYK'],
  [8, 'CIE L*a*b*'],
  [9, 'ICC L*a*b*'],
  [10, 'ITU L*a*b*'],
  [32803, 'a colour filter array'],
  [32844, 'LogL'],
  [32845, 'LogLuv'],
  [34892, 'linear raw'],
])

/**
 * The layout of one image.
 *
 * @throws GEOTIFF_MALFORMED, GEOTIFF_TRUNCATED, UNSUPPORTED_COMPRESSION, UNSUPPORTED_DTYPE, UNSUPPORTED_LAYOUT,
 * BLOCK_TOO_LARGE
 */
export function readLevel(directory: Directory, littleEndian: boolean, limits: LevelLimits): RasterLevel {
  const width = readSide(directory, TAG.imageWidth, 'width')
  const height = readSide(directory, TAG.imageLength, 'height')
  const samplesPerPixel = directory.integer(TAG.samplesPerPixel, 1)
  if (samplesPerPixel < 1 || samplesPerPixel > MAX_SAMPLES) {
    throw malformedGeoTiff({ what: `it declares ${samplesPerPixel} samples per pixel` })
  }
  const compression = readCompression(directory)
  const color = readColor(directory)
  const samples = readSamples(directory, samplesPerPixel)
  const planar = readPlanar(directory) && samplesPerPixel > 1
  const predictor = readPredictor(directory, compression, samples)
  const coding = { samplesPerPixel, compression, color, ...samples, planar }
  refuseUnreadable(coding)
  const grid = readBlockGrid(directory, width, height)
  const layout = {
    width,
    height,
    ...grid,
    planar,
    samplesPerPixel,
    ...samples,
    compression,
    predictor,
    color,
    littleEndian,
    reversedBits: directory.integer(TAG.fillOrder, 1) === 2 && compression !== 'jpeg',
    jpegTables: compression === 'jpeg' ? readJpegTables(directory) : null,
    lercParameters: compression === 'lerc' ? Array.from(directory.integers(TAG.lercParameters, 8)) : null,
  }
  const level = withBlocks(directory, layout, limits)
  const samplesPerBlock = level.blockWidth * level.blockHeight * (planar ? 1 : samplesPerPixel)
  const decoded = samplesPerBlock * SAMPLE_BYTES[samples.sampleType]
  if (decoded > limits.blockBytes) throw blockTooLarge({ bytes: decoded, limit: limits.blockBytes })
  return level
}

/** The tables are prepended to every block, so their size is limited; eight tables have a few kilobytes. */
function readJpegTables(directory: Directory): Uint8Array | null {
  const tables = directory.bytes(TAG.jpegTables)
  if (tables !== null && tables.length > MAX_JPEG_TABLES) {
    throw malformedGeoTiff({ what: `its JPEG tables have ${tables.length} bytes` })
  }
  return tables
}

function readSide(directory: Directory, tag: number, name: string): number {
  const value = directory.integer(tag, 0)
  if (!Number.isInteger(value) || value < 1 || value > MAX_SIDE)
    throw malformedGeoTiff({ what: `its ${name} is ${value}` })
  return value
}

function readPlanar(directory: Directory): boolean {
  const value = directory.integer(TAG.planarConfiguration, 1)
  if (value !== 1 && value !== 2) throw malformedGeoTiff({ what: `its planar configuration is ${value}` })
  return value === 2
}

function readCompression(directory: Directory): Compression {
  // Some writers store it once per sample.
  const code = directory.integers(TAG.compression, 1)[0] ?? 1
  const compression = COMPRESSIONS.get(code)
  if (compression !== undefined) return compression
  throw unsupportedCompression({ compression: REFUSED_COMPRESSIONS.get(code) ?? `scheme ${code}` })
}

function readColor(directory: Directory): ColorModel {
  const code = directory.integer(TAG.photometric, 1)
  const color = COLORS.get(code)
  if (color !== undefined) return color
  throw unsupportedLayout({ layout: `The colour space ${REFUSED_COLORS.get(code) ?? `number ${code}`}` })
}

interface SampleLayout {
  readonly bitsPerSample: number
  readonly sampleType: SampleType
}

function readSamples(directory: Directory, samplesPerPixel: number): SampleLayout {
  const bits = perSample(directory, TAG.bitsPerSample, samplesPerPixel)
  const formats = perSample(directory, TAG.sampleFormat, samplesPerPixel)
  const bitsPerSample = bits[0] ?? 1
  const format = formats[0] ?? 1
  if (bits.some((value) => value !== bitsPerSample) || formats.some((value) => value !== format)) {
    throw unsupportedSamples({ samples: `differing types (${bits.join(', ')} bits)` })
  }
  return { bitsPerSample, sampleType: sampleTypeOf(bitsPerSample, format) }
}

/** One value per sample, or one for all. */
function perSample(directory: Directory, tag: number, samplesPerPixel: number): Float64Array {
  const values = directory.integers(tag, samplesPerPixel)
  if (values.length === samplesPerPixel || values.length === 1 || !directory.has(tag)) return values
  throw malformedGeoTiff({ what: `tag ${tag} has ${values.length} values for ${samplesPerPixel} samples` })
}

function sampleTypeOf(bits: number, format: number): SampleType {
  if ((format === 1 || format === 4) && bits >= 1 && bits <= 32 && Number.isInteger(bits)) {
    return bits <= 8 ? 'uint8' : bits <= 16 ? 'uint16' : 'uint32'
  }
  if (format === 2 && bits === 8) return 'int8'
  if (format === 2 && bits === 16) return 'int16'
  if (format === 2 && bits === 32) return 'int32'
  if (format === 3 && (bits === 16 || bits === 32)) return 'float32'
  if (format === 3 && bits === 64) return 'float64'
  const kinds = ['', 'unsigned integer', 'signed integer', 'floating point', 'untyped', 'complex integer', 'complex']
  throw unsupportedSamples({ samples: `${bits} bits, ${kinds[format] ?? `format ${format}`}` })
}

function readPredictor(directory: Directory, compression: Compression, samples: SampleLayout): 1 | 2 | 3 {
  const predictor = directory.integer(TAG.predictor, 1)
  if (predictor === 1 || (compression !== 'deflate' && compression !== 'lzw' && compression !== 'zstd')) return 1
  const { bitsPerSample: bits, sampleType } = samples
  if (predictor === 2 && (bits === 8 || bits === 16 || bits === 32 || bits === 64)) return 2
  if (predictor === 3 && (sampleType === 'float32' || sampleType === 'float64')) return 3
  throw unsupportedLayout({ layout: `Predictor ${predictor} with samples of ${bits} bits (${sampleType})` })
}

function refuseUnreadable(
  coding: SampleLayout & Pick<RasterLevel, 'compression' | 'color' | 'planar' | 'samplesPerPixel'>,
): void {
  const { compression, color, bitsPerSample, planar, samplesPerPixel } = coding
  if (compression === 'jpeg' || compression === 'webp') {
    if (coding.sampleType !== 'uint8' || bitsPerSample !== 8) {
      throw unsupportedLayout({ layout: `${compression.toUpperCase()} with samples of ${bitsPerSample} bits` })
    }
    if (compression === 'webp' && (planar || (samplesPerPixel !== 3 && samplesPerPixel !== 4))) {
      throw unsupportedLayout({ layout: `WEBP with ${samplesPerPixel} samples per pixel` })
    }
  }
  if (compression === 'lerc' && bitsPerSample !== 8 * SAMPLE_BYTES[coding.sampleType]) {
    throw unsupportedLayout({ layout: `LERC with samples of ${bitsPerSample} bits` })
  }
  if (color === 'ycbcr' && (compression !== 'jpeg' || planar || samplesPerPixel !== 3)) {
    throw unsupportedLayout({ layout: 'YCbCr other than three-sample JPEG' })
  }
  if (color === 'palette' && (samplesPerPixel !== 1 || bitsPerSample > 16 || coding.sampleType.startsWith('float'))) {
    throw unsupportedLayout({ layout: `A palette with ${samplesPerPixel} samples of ${bitsPerSample} bits` })
  }
}

type BlockGrid = Pick<RasterLevel, 'blockWidth' | 'blockHeight' | 'blocksAcross' | 'blocksDown' | 'tiled'>

function readBlockGrid(directory: Directory, width: number, height: number): BlockGrid {
  const tiled = directory.has(TAG.tileWidth)
  const blockWidth = tiled ? readSide(directory, TAG.tileWidth, 'tile width') : width
  const blockHeight = tiled
    ? readSide(directory, TAG.tileLength, 'tile height')
    : Math.min(height, Math.max(1, directory.integer(TAG.rowsPerStrip, height)))
  return {
    blockWidth,
    blockHeight,
    blocksAcross: Math.ceil(width / blockWidth),
    blocksDown: Math.ceil(height / blockHeight),
    tiled,
  }
}

type Layout = Omit<RasterLevel, 'blockOffsets' | 'blockByteCounts'>

function withBlocks(directory: Directory, layout: Layout, limits: LevelLimits): RasterLevel {
  const blocks = layout.blocksAcross * layout.blocksDown * (layout.planar ? layout.samplesPerPixel : 1)
  const offsetTag = directory.has(TAG.tileOffsets) ? TAG.tileOffsets : TAG.stripOffsets
  const countTag = directory.has(TAG.tileByteCounts) ? TAG.tileByteCounts : TAG.stripByteCounts
  if (blocks > limits.blocks || directory.count(offsetTag) < blocks || directory.count(countTag) < blocks) {
    const found = Math.min(directory.count(offsetTag), directory.count(countTag))
    throw malformedGeoTiff({ what: `its layout needs ${blocks} blocks, but only ${found} are listed` })
  }
  const blockOffsets = directory.integers(offsetTag, blocks)
  const blockByteCounts = directory.integers(countTag, blocks)
  for (let i = 0; i < blocks; i++) {
    const [start, length] = [blockOffsets[i] as number, blockByteCounts[i] as number]
    const end = start + length
    if (start < 0 || length < 0) throw malformedGeoTiff({ what: `a block has ${length} bytes from byte ${start} on` })
    if (end > limits.sourceBytes) throw truncatedGeoTiff({ size: limits.sourceBytes, needed: end })
  }
  // Blocks that were never written have neither position nor size: without any size the table is damaged.
  if (blockByteCounts.every((length) => length === 0) && blockOffsets.some((start) => start > 0)) {
    throw malformedGeoTiff({ what: 'its blocks have positions and no sizes' })
  }
  return cutPlainStrip({ ...layout, blockOffsets, blockByteCounts }, limits)
}

/** Splits an uncompressed image in one strip into many short strips, so that a window reads its own rows only. */
function cutPlainStrip(level: RasterLevel, limits: LevelLimits): RasterLevel {
  const planes = level.planar ? level.samplesPerPixel : 1
  const samplesPerRow = level.width * (level.planar ? 1 : level.samplesPerPixel)
  const rowBytes = Math.ceil((samplesPerRow * level.bitsPerSample) / 8)
  const rows = Math.max(1, Math.floor(PIECE_BYTES / rowBytes))
  const blocksDown = Math.ceil(level.height / rows)
  const { compression, tiled, height } = level
  if (compression !== 'none' || tiled || level.blocksDown > 1 || height <= rows) return level
  if (blocksDown * planes > limits.blocks) return level
  // In a strip that is too short, the missing pieces would look like unwritten (sparse) blocks.
  if (level.blockByteCounts.some((bytes) => bytes > 0 && bytes < rowBytes * height)) return level
  const blockOffsets = new Float64Array(blocksDown * planes)
  const blockByteCounts = new Float64Array(blocksDown * planes)
  for (let i = 0; i < blockOffsets.length; i++) {
    const plane = Math.floor(i / blocksDown)
    const skipped = (i - plane * blocksDown) * rows * rowBytes
    if (level.blockByteCounts[plane] === 0) continue
    blockOffsets[i] = (level.blockOffsets[plane] ?? 0) + skipped
    blockByteCounts[i] = Math.min(rows, height - (i % blocksDown) * rows) * rowBytes
  }
  return { ...level, blockHeight: rows, blocksDown, blockOffsets, blockByteCounts }
}
