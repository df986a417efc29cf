import { allocateSamples } from '../../decode/samples.ts'
import type { SampleType } from '../../raster-info.ts'
import type { ReadPixels } from '../pixels.ts'

const TYPES: Readonly<Record<SampleType, string>> = {
  uint8: '|u1',
  int8: '|i1',
  uint16: '<u2',
  int16: '<i2',
  uint32: '<u4',
  int32: '<i4',
  float32: '<f4',
  float64: '<f8',
}

/** Bands one after the other as samples of a type, then the mask if requested: 0 or 255. */
export function planesOf({ planes, alpha }: ReadPixels, type: SampleType, mask: boolean): Uint8Array {
  const count = alpha.length
  const samples = allocateSamples(type, count * (planes.length + (mask ? 1 : 0)))
  for (const [band, plane] of planes.entries()) {
    // Pixels without data are 0, regardless of the values read.
    for (let i = 0; i < count; i++) samples[band * count + i] = alpha[i] === 0 ? 0 : (plane[i] as number)
  }
  if (mask) samples.set(alpha, planes.length * count)
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
}

/**
 * Pixels as a file of NumPy, version 1: an array of bands, rows and columns, the mask as its last band.
 *
 * Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
export function encodeNpy(pixels: ReadPixels, type: SampleType, mask: boolean): Uint8Array {
  const bands = pixels.planes.length + (mask ? 1 : 0)
  const shape = `(${bands}, ${pixels.height}, ${pixels.width})`
  const text = `{'descr': '${TYPES[type]}', 'fortran_order': False, 'shape': ${shape}, }`
  // Data begin at a multiple of 64 bytes.
  const length = Math.ceil((10 + text.length + 1) / 64) * 64 - 10
  const head = Buffer.alloc(10 + length, ' ')
  head.set([0x93, ...Buffer.from('NUMPY'), 1, 0], 0)
  head.writeUInt16LE(length, 8)
  head.write(text, 10, 'latin1')
  head[head.length - 1] = 0x0a
  return Buffer.concat([head, planesOf(pixels, type, mask)])
}
