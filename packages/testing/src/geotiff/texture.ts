import { seededRandom } from '@terrane/core'
import type { ImageSource } from './spec.ts'

/** Size of a texture, and how strong its noise is. */
export interface TextureOptions {
  readonly width: number
  readonly height: number
  readonly bands: number
  readonly seed: number
  /** Bytes below 256, 16-bit values below 4096 · 16. */
  readonly type: 'uint8' | 'uint16'
  /** Largest deviation of a sample by noise, in bytes; it decides how well the image compresses. */
  readonly noise: number
}

/** An image that compresses like aerial photographs: shapes of several sizes, bands alike, noise; by a seed. */
export function textureImage(options: TextureOptions): ImageSource {
  const { width, height, bands, seed, type, noise } = options
  const random = seededRandom(seed)
  const waves = Array.from({ length: 12 }, (_, i) => {
    const length = width / 2 ** (i / 1.5)
    const angle = random() * 2 * Math.PI
    const step = (2 * Math.PI) / length
    return { x: Math.cos(angle) * step, y: Math.sin(angle) * step, phase: random() * 7, size: 40 / (1 + i / 2) }
  })
  const scale = type === 'uint8' ? 1 : 240
  const read: ImageSource['read'] = (left, top, columns, rows) => {
    const values =
      type === 'uint8' ? new Uint8ClampedArray(columns * rows * bands) : new Uint16Array(columns * rows * bands)
    for (let row = 0, i = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        let smooth = 120
        for (const wave of waves)
          smooth += wave.size * Math.sin((left + column) * wave.x + (top + row) * wave.y + wave.phase)
        for (let band = 0; band < bands; band++) {
          const value = smooth * (1 - band / 8) + (random() + random() - 1) * noise
          values[i++] = Math.max(0, Math.min(255, value)) * scale
        }
      }
    }
    return values
  }
  return { width, height, bands, read }
}
