import type { Samples } from '../raster-info.ts'
import { isNeverData } from '../stored-nodata.ts'
import type { PlaneRect, SampleRect } from './stretch.ts'

/** Flag of a pixel that is invalid regardless of its bands; the lower bits count bands without data. */
export const INVALID = 0x8000

/** Counts nodata values of a band and flags values that are never data. */
export function markMissing(from: Samples, rect: SampleRect, marks: Uint16Array, to: PlaneRect, nodata: number): void {
  const { start, step, rowStep, columns, rows } = rect
  for (let row = 0; row < rows; row++) {
    const i = start + row * rowStep
    const o = to.start + row * to.rowStep
    for (let x = 0; x < columns; x++) {
      const value = from[i + x * step] as number
      if (value === nodata) marks[o + x] = (marks[o + x] as number) + 1
      else if (isNeverData(value)) marks[o + x] = (marks[o + x] as number) | INVALID
    }
  }
}

/** Flags pixels for which an alpha band or a mask is zero. */
export function markTransparent(from: Samples, rect: SampleRect, marks: Uint16Array, to: PlaneRect): void {
  const { start, step, rowStep, columns, rows } = rect
  for (let row = 0; row < rows; row++) {
    const i = start + row * rowStep
    const o = to.start + row * to.rowStep
    for (let x = 0; x < columns; x++) {
      if (from[i + x * step] === 0) marks[o + x] = (marks[o + x] as number) | INVALID
    }
  }
}

/** Converts marks to flags, 1 for valid pixels; returns the number of valid pixels. */
export function flagValid(marks: Uint16Array, missingBands: number, valid: Uint8Array): number {
  let count = 0
  for (let i = 0; i < marks.length; i++) {
    const flag = (marks[i] as number) < missingBands ? 1 : 0
    valid[i] = flag
    count += flag
  }
  return count
}
