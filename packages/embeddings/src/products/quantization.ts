/** How stored whole numbers become values. */
export interface Quantization {
  /** `linear`: value · scale + offset. `signed-square`: sign(value) · (value · scale)². */
  readonly method: 'linear' | 'signed-square'
  readonly scale: number
  readonly offset?: number | undefined
}

/** The value of a stored number; the number itself without quantization. */
export function dequantize(stored: number, quantization: Quantization | null): number {
  if (quantization === null) return stored
  const scaled = stored * quantization.scale
  if (quantization.method === 'signed-square') return Math.sign(scaled) * scaled * scaled
  return scaled + (quantization.offset ?? 0)
}
