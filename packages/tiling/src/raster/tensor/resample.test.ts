import { expect, test } from 'vitest'
import { createResampler } from './resample.ts'

function resampled(from: readonly number[], width: number, toWidth: number): number[] {
  const height = from.length / width
  const target = new Float32Array(toWidth * height)
  createResampler({ width, height }, { width: toWidth, height })(Float32Array.from(from), target)
  return [...target]
}

/** Image.resize with BILINEAR of Pillow 12.3.0, on an image of mode F whose pixels are i ** 1.5, 7 wide and 5 high. */
const PILLOW_4_BY_3 = [
  9.1865, 13.5375, 19.9746, 26.2568, 57.5621, 66.5887, 77.8506, 87.8482, 129.8725, 141.8256, 156.3997, 169.0885,
]
const PILLOW_9_BY_6 = [0, 0.6667, 1.8126, 3.3546, 5.1962, 7.3769, 9.7669, 12.3525, 14.6969]

test('reduces and enlarges as Pillow does', () => {
  const image = Float32Array.from({ length: 35 }, (_, i) => i ** 1.5)
  const small = new Float32Array(12)
  createResampler({ width: 7, height: 5 }, { width: 4, height: 3 })(image, small)
  small.forEach((value, i) => expect(value).toBeCloseTo(PILLOW_4_BY_3[i] as number, 3))
  const large = new Float32Array(54)
  createResampler({ width: 7, height: 5 }, { width: 9, height: 6 })(image, large)
  PILLOW_9_BY_6.forEach((value, i) => expect(large[i]).toBeCloseTo(value, 3))
})

test('enlarging is bilinear between pixel centers and constant beyond the outermost', () => {
  expect(resampled([0, 4], 2, 4)).toEqual([0, 1, 3, 4])
})

test('a constant image stays constant at any size', () => {
  const target = new Float32Array(7 * 31)
  createResampler({ width: 20, height: 13 }, { width: 7, height: 31 })(new Float32Array(260).fill(2.5), target)
  for (const value of target) expect(value).toBeCloseTo(2.5, 5)
})

test('one pixel becomes any number of pixels', () => {
  expect(resampled([3], 1, 5)).toEqual([3, 3, 3, 3, 3])
})
