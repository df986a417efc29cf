import { loadSharp } from '../sharp.ts'
import { markDrawn } from './drawn.ts'
import type { Picture } from './paint.ts'

/**
 * A picture as a file. A PNG carries its drawing options. JPEG has no transparency: empty pixels become white.
 *
 * @param mask false for no transparency in PNG and WEBP: empty pixels become the background, or black without one
 */
export async function encodePicture(
  { width, height, rgba, drawn }: Picture,
  format: 'png' | 'webp' | 'jpeg',
  mask = true,
  background?: string,
): Promise<Uint8Array> {
  const sharp = await loadSharp()
  const image = sharp(rgba, { raw: { width, height, channels: 4 } })
  if (!mask) {
    if (background === undefined) image.removeAlpha()
    else image.flatten({ background })
  }
  // Lowest effort, because tiles are made on request and then cached.
  if (format === 'png') {
    const png = await image.png({ compressionLevel: 1 }).toBuffer()
    return drawn === undefined ? png : markDrawn(png, drawn)
  }
  if (format === 'webp') return image.webp({ quality: 80, effort: 0 }).toBuffer()
  return image.flatten({ background: '#ffffff' }).jpeg({ quality: 80 }).toBuffer()
}
