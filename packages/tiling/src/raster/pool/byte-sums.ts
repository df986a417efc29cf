import type { SampleRun } from './number-sums.ts'

/** Exponent of the summand of a pixel without a value, which is more than twice the largest sum of the squares of a run. */
const MISSING_BITS = 24
/** Maximum number of pixels of one run, so that its sum is an integer of 32 bits. */
export const MOST_PIXELS = 64

/**
 * Stored numbers of byte values, or their signed squares: whole numbers, so that one sum can also count missing pixels.
 */
export function byteTable(
  { isSquare, nodata }: { readonly isSquare: boolean; readonly nodata: number | null },
  bytes: 'int8' | 'uint8',
): Int32Array {
  return Int32Array.from({ length: 256 }, (_, bits) => {
    const stored = bytes === 'int8' && bits > 127 ? bits - 256 : bits
    if (stored === nodata) return 1 << MISSING_BITS
    return isSquare ? stored * Math.abs(stored) : stored
  })
}

/** The number of missing pixels in a sum of the table's values. */
export function missingIn(total: number): number {
  return (total + (1 << (MISSING_BITS - 1))) >> MISSING_BITS
}

/** The sum without its missing pixels. */
export function withoutMissing(total: number, missing: number): number {
  return total - (missing << MISSING_BITS)
}

/** Samples of a block as bytes, and as words of four bytes if they are aligned. */
export interface ByteSamples {
  readonly bytes: Uint8Array
  readonly words: Int32Array | null
}

export function byteSamples({ buffer, byteOffset, byteLength }: ArrayBufferView): ByteSamples {
  const words = (byteOffset & 3) === 0 ? new Int32Array(buffer, byteOffset, byteLength >> 2) : null
  return { bytes: new Uint8Array(buffer, byteOffset, byteLength), words }
}

/** Sums a run of at most {@link MOST_PIXELS} pixels into `totals`, one for each channel. */
export function sumBytes({ bytes, words }: ByteSamples, table: Int32Array, run: SampleRun, totals: Int32Array): void {
  const { at, pixelStep, bandStep, channels } = run
  const isAligned = bandStep === 1 && ((pixelStep | channels | at) & 3) === 0
  if (isAligned && words !== null) return sumWords(words, table, run, totals)
  for (let c = 0; c < channels; c++) totals[c] = sumChannel(bytes, table, at + c * bandStep, run)
}

/** Reads four channels at once, which halves the loads. */
function sumWords(words: Int32Array, table: Int32Array, run: SampleRun, totals: Int32Array): void {
  const step = run.pixelStep >> 2
  for (let c = 0; c < run.channels; c += 4) {
    let a = 0
    let b = 0
    let d = 0
    let e = 0
    const start = (run.at + c) >> 2
    const end = start + run.pixels * step
    for (let i = start; i < end; i += step) {
      const word = words[i] as number
      a = (a + (table[word & 255] as number)) | 0
      b = (b + (table[(word >>> 8) & 255] as number)) | 0
      d = (d + (table[(word >>> 16) & 255] as number)) | 0
      e = (e + (table[word >>> 24] as number)) | 0
    }
    totals[c] = a
    totals[c + 1] = b
    totals[c + 2] = d
    totals[c + 3] = e
  }
}

/** Two independent sums, because consecutive additions to one sum wait for each other. */
function sumChannel(bytes: Uint8Array, table: Int32Array, start: number, { pixels, pixelStep }: SampleRun): number {
  let a = 0
  let b = 0
  let at = start | 0
  const end = start + pixels * pixelStep
  for (const last = end - pixelStep; at < last; at += 2 * pixelStep) {
    a = (a + (table[bytes[at] as number] as number)) | 0
    b = (b + (table[bytes[at + pixelStep] as number] as number)) | 0
  }
  if (at < end) a = (a + (table[bytes[at] as number] as number)) | 0
  return a + b
}
