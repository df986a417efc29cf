import type { Samples } from '../raster-info.ts'

/** Samples of one block: `rows` rows of `rowSamples`, of which `step` make a pixel. */
export interface RowLayout {
  readonly rows: number
  readonly rowSamples: number
  readonly step: number
}

/** Undoes horizontal differencing in place. Source: TIFF 6.0 section 14. */
export function undoHorizontalDifferencing(samples: Samples, layout: RowLayout): void {
  const { buffer, byteOffset, length } = samples
  switch (samples.BYTES_PER_ELEMENT) {
    case 1:
      return undoBytes(new Uint8Array(buffer, byteOffset, length), layout)
    case 2:
      return accumulate(new Uint16Array(buffer, byteOffset, length), layout)
    case 4:
      return accumulate(new Uint32Array(buffer, byteOffset, length), layout)
    default:
      return accumulateWide(new BigUint64Array(buffer, byteOffset, length), layout)
  }
}

function undoBytes(samples: Uint8Array, layout: RowLayout): void {
  if (layout.step === 3) undoTriples(samples, layout)
  else if (layout.step === 4) undoQuadruples(samples, layout)
  else accumulate(samples, layout)
}

/** Running sums in registers instead of memory: the common pixel sizes are bound by that. */
function undoTriples(samples: Uint8Array, { rows, rowSamples }: RowLayout): void {
  for (let row = 0, i = 0; row < rows; row++) {
    let a = 0
    let b = 0
    let c = 0
    for (const end = i + rowSamples; i < end; i += 3) {
      samples[i] = a = (a + (samples[i] as number)) & 255
      samples[i + 1] = b = (b + (samples[i + 1] as number)) & 255
      samples[i + 2] = c = (c + (samples[i + 2] as number)) & 255
    }
  }
}

function undoQuadruples(samples: Uint8Array, { rows, rowSamples }: RowLayout): void {
  for (let row = 0, i = 0; row < rows; row++) {
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    for (const end = i + rowSamples; i < end; i += 4) {
      samples[i] = a = (a + (samples[i] as number)) & 255
      samples[i + 1] = b = (b + (samples[i + 1] as number)) & 255
      samples[i + 2] = c = (c + (samples[i + 2] as number)) & 255
      samples[i + 3] = d = (d + (samples[i + 3] as number)) & 255
    }
  }
}

function accumulate(samples: Uint8Array | Uint16Array | Uint32Array, { rows, rowSamples, step }: RowLayout): void {
  for (let row = 0; row < rows; row++) {
    const start = row * rowSamples
    for (let i = start + step, end = start + rowSamples; i < end; i++) {
      samples[i] = (samples[i] as number) + (samples[i - step] as number)
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
 * Undoes floating point differencing: sums the bytes of each row, then gathers each sample from the row's byte planes,
 * most significant first, into little-endian order.
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
