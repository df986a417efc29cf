import type { RasterLevel, SampleType, Samples } from '../raster-info.ts'
import { decodeWebpPicture, inflate, lercProgram, swapBytes, unzstd } from './platform.ts'
import { SAMPLE_BYTES, allocateSamples } from './samples.ts'
import type { JpegDecoder } from './jpeg.ts'
import { joinJpeg, loadJpegDecoder, readJpegFrame } from './jpeg.ts'

/** The pixels that a block must hold; the last strip of an image may be shorter than the others. */
export interface BlockShape {
  readonly width: number
  readonly rows: number
  /** Rows of a full block. */
  readonly fullRows: number
  readonly samples: number
}

/**
 * Decodes a block of a picture codec into interleaved samples of the level's type.
 *
 * @throws Error when the block is damaged or has another shape
 */
export type PictureDecoder = (stored: Uint8Array, shape: BlockShape) => Samples | Promise<Samples>

/** The picture decoder of a level, null for byte compressions. Codecs are loaded at the first block. */
export function pictureDecoderOf(level: RasterLevel): PictureDecoder | null {
  switch (level.compression) {
    case 'jpeg':
      return jpegBlocks(level)
    case 'webp':
      return decodeWebp
    case 'lerc':
      return (stored, shape) => decodeLerc(level, stored, shape)
    default:
      return null
  }
}

function jpegBlocks(level: RasterLevel): PictureDecoder {
  const components = level.planar ? 1 : level.samplesPerPixel
  if (components !== 1 && components !== 3) return (stored, shape) => decodeRareJpeg(level, stored, shape)
  let decoder: JpegDecoder | null = null
  const decode = (stored: Uint8Array, shape: BlockShape, codec: JpegDecoder): Samples => {
    const jpeg = joinJpeg(level.jpegTables, stored, level.color === 'ycbcr')
    const frame = readJpegFrame(jpeg)
    requireShape(frame.width, frame.height, frame.components, shape)
    try {
      return codec(jpeg)
    } catch (error) {
      decoder = null
      throw error
    }
  }
  return (stored, shape) => {
    if (decoder !== null) return decode(stored, shape, decoder)
    return loadJpegDecoder().then((codec) => decode(stored, shape, (decoder = codec)))
  }
}

/** Decodes two, four or more components without a colour transform, which libjpeg-turbo's wrapper cannot turn off. */
async function decodeRareJpeg(level: RasterLevel, stored: Uint8Array, shape: BlockShape): Promise<Samples> {
  const jpeg = joinJpeg(level.jpegTables, stored, false)
  const frame = readJpegFrame(jpeg)
  requireShape(frame.width, frame.height, frame.components, shape)
  const { getDecoder } = await import('geotiff')
  const codec = await getDecoder(7, {
    tileWidth: shape.width,
    tileHeight: frame.height,
    predictor: 1,
    bitsPerSample: 8,
    planarConfiguration: 1,
  })
  return new Uint8Array(await codec.decode(new Uint8Array(jpeg).buffer))
}

async function decodeWebp(stored: Uint8Array, shape: BlockShape): Promise<Samples> {
  const picture = await decodeWebpPicture(stored, shape.samples, shape.width * shape.fullRows)
  requireShape(picture.width, picture.height, picture.channels, shape)
  return picture.pixels
}

/** Sample types by LERC's number. */
const LERC_TYPES: readonly SampleType[] = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'float32', 'float64']

/** Maximum size of a LERC block beyond twice its samples, in bytes. */
const LERC_HEADROOM = 1 << 16

/**
 * LERC marks pixels without a value in a mask. As in libtiff, they become NaN in floating point samples, and the mask
 * becomes the alpha band of bytes when the level has one more sample than the block.
 */
async function decodeLerc(level: RasterLevel, stored: Uint8Array, shape: BlockShape): Promise<Samples> {
  const blob = unwrapLerc(stored, level, shape)
  checkLercSize(blob, shape)
  const lerc = await import('lerc')
  if (!lerc.isLoaded()) await lerc.load(await lercProgram())
  const header = lerc.getBlobInfo(blob)
  const type = LERC_TYPES[header.dataType]
  if (type !== level.sampleType) throw new Error(`it holds samples of type ${type} instead of ${level.sampleType}`)
  const depth = header.depthCount * header.bandCount
  const alpha = header.maskCount > 0 && level.sampleType === 'uint8' && depth === shape.samples - 1
  requireShape(header.width, header.height, depth + (alpha ? 1 : 0), shape)
  const { pixels, mask, bandMasks, depthCount, width, height } = lerc.decode(blob, { returnInterleaved: true })
  const samples = allocateSamples(level.sampleType, width * height * shape.samples)
  const step = shape.samples
  pixels.forEach((band, index) => {
    const valid = bandMasks?.[index] ?? mask
    for (let i = 0, pixel = 0; pixel < width * height; pixel++) {
      const missing = valid !== null && valid[pixel] === 0
      for (let d = 0; d < depthCount; d++, i++) {
        samples[pixel * step + index * depthCount + d] = missing && !alpha ? Number.NaN : (band[i] as number)
      }
    }
  })
  if (alpha)
    for (let pixel = 0; pixel < width * height; pixel++) samples[(pixel + 1) * step - 1] = mask?.[pixel] === 0 ? 0 : 255
  // Big-endian files compress swapped samples, as with any other codec.
  if (!level.littleEndian) swapBytes(samples, samples.length, samples.BYTES_PER_ELEMENT)
  return samples
}

/** Checks the declared size, because the decoder allocates it before it reads the data. Source: Esri, Lerc2 header. */
function checkLercSize(blob: Uint8Array, shape: BlockShape): void {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const isLerc2 = blob.length >= 26 && String.fromCharCode(...blob.subarray(0, 6)) === 'Lerc2 '
  if (!isLerc2) throw new Error('it is not LERC of version 2')
  const version = view.getInt32(6, true)
  const at = version < 3 ? 10 : 14
  const depth = version < 4 ? 1 : view.getInt32(at + 8, true)
  if (depth < 1 || depth > shape.samples) throw new Error(`it declares ${depth} samples per pixel`)
  requireShape(view.getInt32(at + 4, true), view.getInt32(at, true), shape.samples, shape)
}

function unwrapLerc(stored: Uint8Array, level: RasterLevel, shape: BlockShape): Uint8Array {
  const samples = shape.width * shape.fullRows * shape.samples
  const limit = 2 * samples * SAMPLE_BYTES[level.sampleType] + LERC_HEADROOM
  switch (level.lercParameters?.[1] ?? 0) {
    case 1:
      return inflate(stored, limit)
    case 2:
      return unzstd(stored, limit)
    default:
      return stored
  }
}

function requireShape(width: number, height: number, samples: number, shape: BlockShape): void {
  const fits = width === shape.width && height >= shape.rows && height <= shape.fullRows && samples === shape.samples
  if (fits) return
  const wanted = `${shape.width} × ${shape.rows} pixels of ${shape.samples} samples`
  throw new Error(`it holds ${width} × ${height} pixels of ${samples} samples instead of ${wanted}`)
}
