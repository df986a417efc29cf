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

/** Limits that keep a small file from asking for much memory. */
export interface LevelLimits {
  readonly sourceBytes: number
  /** Largest decoded block, in bytes. */
  readonly blockBytes: number
}

const MAX_SIDE = 0x7fffffff
const MAX_SAMPLES = 4096
const MAX_BLOCKS = 1 << 22
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
  const samplesPerPixel = directory.number(TAG.samplesPerPixel, 1)
  if (samplesPerPixel < 1 || samplesPerPixel > MAX_SAMPLES) {
    throw malformedGeoTiff({ what: `it declares ${samplesPerPixel} samples per pixel` })
  }
  const compression = readCompression(directory)
  const color = readColor(directory)
  const samples = readSamples(directory, samplesPerPixel)
  const planar = directory.number(TAG.planarConfiguration, 1) === 2 && samplesPerPixel > 1
  const predictor = readPredictor(directory, compression, samples)
  const coding = { samplesPerPixel, compression, color, ...samples, planar }
  refuseUnreadable(directory, coding)
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
    jpegTables: compression === 'jpeg' ? directory.bytes(TAG.jpegTables) : null,
    lercParameters: compression === 'lerc' ? Array.from(directory.numbers(TAG.lercParameters, 8)) : null,
  }
  const level = withBlocks(directory, layout, limits)
  const samplesPerBlock = level.blockWidth * level.blockHeight * (planar ? 1 : samplesPerPixel)
  const decoded = samplesPerBlock * SAMPLE_BYTES[samples.sampleType]
  if (decoded > limits.blockBytes) throw blockTooLarge({ bytes: decoded, limit: limits.blockBytes })
  return level
}

function readSide(directory: Directory, tag: number, name: string): number {
  const value = directory.number(tag, 0)
  if (!Number.isInteger(value) || value < 1 || value > MAX_SIDE)
    throw malformedGeoTiff({ what: `its ${name} is ${value}` })
  return value
}

function readCompression(directory: Directory): Compression {
  const code = directory.number(TAG.compression, 1)
  const compression = COMPRESSIONS.get(code)
  if (compression !== undefined) return compression
  throw unsupportedCompression({ compression: REFUSED_COMPRESSIONS.get(code) ?? `scheme ${code}` })
}

function readColor(directory: Directory): ColorModel {
  const code = directory.number(TAG.photometric, 1)
  const color = COLORS.get(code)
  if (color !== undefined) return color
  throw unsupportedLayout({ layout: `The colour space ${REFUSED_COLORS.get(code) ?? `number ${code}`}` })
}

interface SampleLayout {
  readonly bitsPerSample: number
  readonly sampleType: SampleType
}

function readSamples(directory: Directory, samplesPerPixel: number): SampleLayout {
  const bits = directory.numbers(TAG.bitsPerSample, samplesPerPixel)
  const formats = directory.numbers(TAG.sampleFormat, samplesPerPixel)
  const bitsPerSample = bits[0] ?? 1
  const format = formats[0] ?? 1
  if (bits.some((value) => value !== bitsPerSample) || formats.some((value) => value !== format)) {
    throw unsupportedSamples({ samples: `differing types (${bits.join(', ')} bits)` })
  }
  return { bitsPerSample, sampleType: sampleTypeOf(bitsPerSample, format) }
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
  const predictor = directory.number(TAG.predictor, 1)
  if (predictor === 1 || (compression !== 'deflate' && compression !== 'lzw' && compression !== 'zstd')) return 1
  const { bitsPerSample: bits, sampleType } = samples
  if (predictor === 2 && (bits === 8 || bits === 16 || bits === 32 || bits === 64)) return 2
  if (predictor === 3 && (sampleType === 'float32' || sampleType === 'float64')) return 3
  throw unsupportedLayout({ layout: `Predictor ${predictor} with samples of ${bits} bits (${sampleType})` })
}

function refuseUnreadable(
  directory: Directory,
  coding: SampleLayout & Pick<RasterLevel, 'compression' | 'color' | 'planar' | 'samplesPerPixel'>,
): void {
  const { compression, color, bitsPerSample, planar, samplesPerPixel } = coding
  if (directory.number(TAG.fillOrder, 1) === 2 && bitsPerSample < 8) {
    throw unsupportedLayout({ layout: 'Bit order from the least significant bit (FillOrder 2)' })
  }
  if (compression === 'jpeg' || compression === 'webp') {
    if (coding.sampleType !== 'uint8' || bitsPerSample !== 8) {
      throw unsupportedLayout({ layout: `${compression.toUpperCase()} with samples of ${bitsPerSample} bits` })
    }
    if (compression === 'webp' && (planar || (samplesPerPixel !== 3 && samplesPerPixel !== 4))) {
      throw unsupportedLayout({ layout: `WEBP with ${samplesPerPixel} samples per pixel` })
    }
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
    : Math.min(height, Math.max(1, directory.number(TAG.rowsPerStrip, height)))
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
  if (blocks > MAX_BLOCKS || directory.count(offsetTag) < blocks || directory.count(countTag) < blocks) {
    const found = Math.min(directory.count(offsetTag), directory.count(countTag))
    throw malformedGeoTiff({ what: `its layout needs ${blocks} blocks, of which ${found} are listed` })
  }
  const blockOffsets = directory.numbers(offsetTag, blocks)
  const blockByteCounts = directory.numbers(countTag, blocks)
  for (let i = 0; i < blocks; i++) {
    const end = (blockOffsets[i] ?? 0) + (blockByteCounts[i] ?? 0)
    if (!(end <= limits.sourceBytes)) throw truncatedGeoTiff({ size: limits.sourceBytes, needed: end })
  }
  return cutPlainStrip({ ...layout, blockOffsets, blockByteCounts })
}

/** An uncompressed image in one strip, as many short strips: a window then reads its own rows only. */
function cutPlainStrip(level: RasterLevel): RasterLevel {
  const planes = level.planar ? level.samplesPerPixel : 1
  const samplesPerRow = level.width * (level.planar ? 1 : level.samplesPerPixel)
  const rowBytes = Math.ceil((samplesPerRow * level.bitsPerSample) / 8)
  const rows = Math.max(1, Math.floor(PIECE_BYTES / rowBytes))
  const blocksDown = Math.ceil(level.height / rows)
  const { compression, tiled, height } = level
  if (compression !== 'none' || tiled || level.blocksDown > 1 || height <= rows) return level
  if (blocksDown * planes > MAX_BLOCKS) return level
  const blockOffsets = new Float64Array(blocksDown * planes)
  const blockByteCounts = new Float64Array(blocksDown * planes)
  for (let i = 0; i < blockOffsets.length; i++) {
    const plane = Math.floor(i / blocksDown)
    const skipped = (i - plane * blocksDown) * rows * rowBytes
    const left = Math.max(0, (level.blockByteCounts[plane] ?? 0) - skipped)
    blockOffsets[i] = left === 0 ? 0 : (level.blockOffsets[plane] ?? 0) + skipped
    blockByteCounts[i] = Math.min(left, rows * rowBytes)
  }
  return { ...level, blockHeight: rows, blocksDown, blockOffsets, blockByteCounts }
}
