import type { Samples } from '../raster-info.ts'

/** Samples of one block: `rows` rows of `rowSamples`; `step` samples per pixel. */
export interface RowLayout {
  readonly rows: number
  readonly rowSamples: number
  readonly step: number
}

/** Reverses horizontal differencing in place. Source: TIFF 6.0 section 14. */
export function undoHorizontalDifferencing(samples: Samples, layout: RowLayout): void {
  const { buffer, byteOffset, length } = samples
  switch (samples.BYTES_PER_ELEMENT) {
    case 1:
      return accumulate(new Uint8Array(buffer, byteOffset, length), layout, 0xff)
    case 2:
      return accumulate(new Uint16Array(buffer, byteOffset, length), layout, 0xffff)
    case 4:
      return accumulate(new Uint32Array(buffer, byteOffset, length), layout, -1)
    default:
      return accumulateWide(new BigUint64Array(buffer, byteOffset, length), layout)
  }
}

type Words = Uint8Array | Uint16Array | Uint32Array

/** Running sums stay in registers: common pixel sizes take one pass, others one pass per band of a row. */
function accumulate(samples: Words, layout: RowLayout, mask: number): void {
  if (layout.step === 3) accumulateTriples(samples, layout, mask)
  else if (layout.step === 4) accumulateQuadruples(samples, layout, mask)
  else accumulateBands(samples, layout, mask)
}

function accumulateTriples(samples: Words, { rows, rowSamples }: RowLayout, mask: number): void {
  for (let row = 0; row < rows; row++) {
    let a = 0
    let b = 0
    let c = 0
    for (let i = row * rowSamples, end = i + rowSamples; i < end; i += 3) {
      a = (a + (samples[i] as number)) & mask
      b = (b + (samples[i + 1] as number)) & mask
      c = (c + (samples[i + 2] as number)) & mask
      samples[i] = a
      samples[i + 1] = b
      samples[i + 2] = c
    }
  }
}

function accumulateQuadruples(samples: Words, { rows, rowSamples }: RowLayout, mask: number): void {
  for (let row = 0; row < rows; row++) {
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    for (let i = row * rowSamples, end = i + rowSamples; i < end; i += 4) {
      a = (a + (samples[i] as number)) & mask
      b = (b + (samples[i + 1] as number)) & mask
      c = (c + (samples[i + 2] as number)) & mask
      d = (d + (samples[i + 3] as number)) & mask
      samples[i] = a
      samples[i + 1] = b
      samples[i + 2] = c
      samples[i + 3] = d
    }
  }
}

function accumulateBands(samples: Words, { rows, rowSamples, step }: RowLayout, mask: number): void {
  const pixels = rowSamples / step
  for (let row = 0; row < rows; row++) {
    for (let band = 0; band < step; band++) {
      const start = row * rowSamples + band
      let sum = 0
      for (let x = 0; x < pixels; x++) {
        sum = (sum + (samples[start + x * step] as number)) & mask
        samples[start + x * step] = sum
      }
    }
  }
}

function accumulateWide(samples: BigUint64Array, { rows, rowSamples, step }: RowLayout): void {
  for (let row = 0; row < rows; row++) {
    const start = row * rowSamples
    for (let i = start + step, end = start + rowSamples; i < end; i++) {
      samples[i] = (samples[i] as bigint) + (samples[i - step] as bigint)
    }
  }
}

/**
 * Reverses floating point differencing: sums the bytes of each row, then gathers each sample from the row's byte
 * planes, most significant first, into little-endian order.
 *
 * Source: Adobe Photoshop TIFF Technical Note 3.
 */
export function undoFloatDifferencing(bytes: Uint8Array, layout: RowLayout, sampleBytes: number): void {
  const { rows, rowSamples, step } = layout
  const rowBytes = rowSamples * sampleBytes
  const planes = new Uint8Array(rowBytes)
  for (let row = 0; row < rows; row++) {
    const line = bytes.subarray(row * rowBytes, (row + 1) * rowBytes)
    for (let i = step; i < rowBytes; i++) line[i] = (line[i] as number) + (line[i - step] as number)
    planes.set(line)
    for (let byte = 0; byte < sampleBytes; byte++) {
      const plane = (sampleBytes - 1 - byte) * rowSamples
      for (let i = 0, to = byte; i < rowSamples; i++, to += sampleBytes) line[to] = planes[plane + i] as number
    }
  }
}
