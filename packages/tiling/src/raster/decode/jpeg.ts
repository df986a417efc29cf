// oxlint-disable-next-line typescript/triple-slash-reference -- Packages that import this one need the declaration, too.
/// <reference path="./libjpeg-turbo.d.ts" />
import loadCodec from '@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasmjs'
import { jpegProgram } from './platform.ts'

/** Frame header of a JPEG stream. */
export interface JpegFrame {
  readonly width: number
  readonly height: number
  readonly components: number
}

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const DHT = 0xc4
const JPG = 0xc8
const DAC = 0xcc
/** Each scan of a progressive stream covers the whole image, so a small file could take days to decode. */
const MAX_SCANS = 128

/**
 * A complete JPEG stream from a TIFF's shared tables and one block. Application markers are dropped and the colour
 * transform is stated by an Adobe marker, because in TIFF only the photometric interpretation decides it.
 *
 * Source: ITU-T T.81 annex B; TIFF Technical Note 2.
 *
 * @throws Error when a stream is not JPEG
 */
export function joinJpeg(tables: Uint8Array | null, block: Uint8Array, ycbcr: boolean): Uint8Array {
  const adobe = Uint8Array.of(0xff, 0xee, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, ycbcr ? 1 : 0)
  const parts: Uint8Array[] = [Uint8Array.of(0xff, SOI), adobe]
  if (tables !== null) parts.push(...segmentsOf(tables))
  parts.push(...segmentsOf(block))
  const stream = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    stream.set(part, at)
    at += part.length
  }
  return stream
}

/**
 * Reads the frame header and checks that the stream is complete, because decoders fill missing parts with gray.
 *
 * @throws Error when the header is missing or repeated, the end is missing, or there are too many scans
 */
export function readJpegFrame(jpeg: Uint8Array): JpegFrame {
  let frame: JpegFrame | null = null
  for (const segment of segmentsOf(jpeg)) {
    const marker = segment[1] as number
    if (isFrame(marker) && segment.length >= 10) {
      const view = new DataView(segment.buffer, segment.byteOffset, segment.byteLength)
      frame = { height: view.getUint16(5), width: view.getUint16(7), components: view.getUint8(9) }
    } else if (marker === SOS) {
      checkScans(segment)
    }
  }
  if (frame === null) throw new Error('the JPEG stream has no frame header')
  return frame
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== DHT && marker !== JPG && marker !== DAC
}

/** Header segments for decoding, each with its marker; the stream from the first scan on is one segment. */
function segmentsOf(stream: Uint8Array): Uint8Array[] {
  if (stream[0] !== 0xff || stream[1] !== SOI) throw new Error('the JPEG stream does not start with its marker')
  const segments: Uint8Array[] = []
  let at = 2
  while (at + 4 <= stream.length) {
    if (stream[at] !== 0xff) throw new Error(`the JPEG stream has no marker at byte ${at}`)
    const marker = stream[at + 1] as number
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker === EOI) break
    if (marker === SOS) {
      segments.push(stream.subarray(at))
      break
    }
    const length = 2 + (((stream[at + 2] as number) << 8) | (stream[at + 3] as number))
    const application = (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe
    if (!application) segments.push(stream.subarray(at, at + length))
    at += length
  }
  return segments
}

/** In coded data, 0xFF is followed only by restart markers or a stuffed zero, so that other markers are real. */
function checkScans(entropyCoded: Uint8Array): void {
  let scans = 0
  for (let at = entropyCoded.indexOf(0xff); at !== -1; at = entropyCoded.indexOf(0xff, at + 1)) {
    const marker = entropyCoded[at + 1] as number
    if (marker === EOI) return
    if (isFrame(marker)) throw new Error('the JPEG stream has a second frame')
    if (marker === SOS && ++scans > MAX_SCANS) throw new Error(`the JPEG stream has more than ${MAX_SCANS} scans`)
  }
  throw new Error('the JPEG stream is cut off')
}

/** Decodes a JPEG stream into interleaved bytes: RGB, or gray for one component. */
export type JpegDecoder = (jpeg: Uint8Array) => Uint8Array

/** Loads libjpeg-turbo as WebAssembly, about 10 ms; later calls share it. Damaged streams cannot reach beyond its memory. */
export async function loadJpegDecoder(): Promise<JpegDecoder> {
  loading ??= instantiate()
  return await loading
}

let loading: Promise<JpegDecoder> | null = null

async function instantiate(): Promise<JpegDecoder> {
  const codec = await loadCodec({ ...(await jpegProgram()), print: () => {}, printErr: () => {} })
  const decoder = new codec.JPEGDecoder()
  return (jpeg) => {
    try {
      decoder.getEncodedBuffer(jpeg.length).set(jpeg)
      decoder.decode()
      return new Uint8Array(decoder.getDecodedBuffer())
    } catch (cause) {
      // A failed decode leaks memory in the instance, so the next block gets a new one.
      loading = null
      throw new Error('the JPEG stream is damaged', { cause })
    }
  }
}
