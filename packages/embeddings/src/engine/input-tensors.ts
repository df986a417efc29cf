import { Tensor } from 'onnxruntime-node'
import { runtimeTooOld } from '../errors.ts'
import type { ModelManifest } from '../models/manifest.ts'

/** Tensors to embed: `count` tiles `[channels, height, width]`, one after the other in `pixels`. */
export interface Input {
  readonly pixels: Float32Array
  readonly count: number
  readonly height: number
  readonly width: number
}

/** The axes of an image, by their letters. */
export function axesOf({ layout = 'nchw' }: ModelManifest['input']): ('n' | 'c' | 't' | 'h' | 'w')[] {
  return layout.split('') as ReturnType<typeof axesOf>
}

/** The shape that a graph sees, by the layout of its manifest. */
export function inputShape(manifest: ModelManifest['input'], { count, height, width }: Input): number[] {
  const sizes = { n: count, c: manifest.bands.length, t: 1, h: height, w: width }
  return axesOf(manifest).map((axis) => sizes[axis])
}

/** Normalised pixels in the type and the layout that a graph takes. Bytes represent values from 0 to 1. */
export function pixelTensor(manifest: ModelManifest['input'], input: Input): Tensor {
  const { count, height, width } = input
  const channels = manifest.bands.length
  const shape = inputShape(manifest, input)
  const planes = input.pixels.subarray(0, count * channels * height * width)
  const values = manifest.layout === 'nhwc' ? interleaved(planes, count, channels) : planes
  switch (manifest.type) {
    case 'float16':
      return halfTensor(values, shape)
    case 'uint8':
      // The array clamps and rounds the values.
      return new Tensor('uint8', Uint8Array.from(Uint8ClampedArray.from(values, toByte)), shape)
    case 'int8':
      return new Tensor(
        'int8',
        Int8Array.from(Uint8ClampedArray.from(values, toByte), (byte) => byte - 128),
        shape,
      )
    default:
      return new Tensor('float32', values, shape)
  }
}

/**
 * The input with its last tile repeated up to `batch` tiles, for a graph with a fixed batch. Old content of the buffer
 * must not affect a graph that uses statistics of its batch.
 */
export function filledUp(input: Input, batch: number, channels: number): Input {
  const { pixels, count, height, width } = input
  if (count >= batch) return input
  const length = channels * height * width
  const filled = new Float32Array(batch * length)
  filled.set(pixels.subarray(0, count * length))
  const last = pixels.subarray((count - 1) * length, count * length)
  for (let tile = count; tile < batch; tile++) filled.set(last, tile * length)
  return { pixels: filled, count: batch, height, width }
}

/**
 * Half floats in a form that the runtime's binding accepts. Its own constructor fails on Node 24 (microsoft/onnxruntime
 * #26791); a plain object of the same shape works.
 */
export function halfTensor(values: ArrayLike<number>, dims: readonly number[]): Tensor {
  if (typeof Float16Array === 'undefined') throw runtimeTooOld({ version: process.version })
  const data = new Uint16Array(Float16Array.from(values).buffer)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has all properties that the binding reads
  return { type: 'float16', data, dims, location: 'cpu' } as unknown as Tensor
}

/** The numbers of an output in single precision; null for a type without embeddings. */
export function singlePrecision({ type, data }: Tensor): Float32Array | null {
  if (data instanceof Float32Array) return data
  if (type === 'float16' && data instanceof Uint16Array) {
    if (typeof Float16Array === 'undefined') throw runtimeTooOld({ version: process.version })
    return Float32Array.from(new Float16Array(data.buffer, data.byteOffset, data.length))
  }
  if (type === 'float16' && ArrayBuffer.isView(data)) return Float32Array.from(data as unknown as ArrayLike<number>)
  return data instanceof Float64Array ? Float32Array.from(data) : null
}

function toByte(value: number): number {
  return value * 255
}

/** Converts planes to pixels with interleaved channels. */
function interleaved(planes: Float32Array, count: number, channels: number): Float32Array {
  const out = new Float32Array(planes.length)
  const size = planes.length / count / channels
  for (let plane = 0; plane < count * channels; plane++) {
    const start = (plane - (plane % channels)) * size + (plane % channels)
    for (let i = 0; i < size; i++) out[start + i * channels] = planes[plane * size + i]!
  }
  return out
}
