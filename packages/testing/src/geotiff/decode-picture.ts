import sharp from 'sharp'

/** Red, green, blue and alpha of each pixel of a PNG, WEBP or JPEG, row by row. */
export async function decodePicture(bytes: Uint8Array): Promise<Uint8Array> {
  return sharp(bytes).ensureAlpha().raw().toBuffer()
}
