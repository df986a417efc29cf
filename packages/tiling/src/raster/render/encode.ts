import sharp from 'sharp'
import { markDrawn } from './drawn.ts'
import type { Picture } from './paint.ts'

/**
 * A picture as a file. A PNG carries its drawing options. JPEG has no transparency: empty pixels become white.
 *
 * @param mask false for no transparency in PNG and WEBP: empty pixels become black
 */
export async function encodePicture(
  { width, height, rgba, drawn }: Picture,
  format: 'png' | 'webp' | 'jpeg',
  mask = true,
): Promise<Uint8Array> {
  const whole = sharp(rgba, { raw: { width, height, channels: 4 } })
  const image = mask ? whole : whole.removeAlpha()
  // Lowest effort, because tiles are made on request and then cached.
  if (format === 'png') {
    const png = await image.png({ compressionLevel: 1 }).toBuffer()
    return drawn === undefined ? png : markDrawn(png, drawn)
  }
  if (format === 'webp') return image.webp({ quality: 80, effort: 0 }).toBuffer()
  return image.flatten({ background: '#ffffff' }).jpeg({ quality: 80 }).toBuffer()
}
