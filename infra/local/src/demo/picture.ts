import { openFileSource, openGeoTiff, readWindow } from '@terrane/tiling/raster'
import sharp from 'sharp'

/** A row of similarity_search. */
export interface Match {
  readonly id: number
  readonly similarity: number
}

/** The picture's width in pixels; the scene's is a multiple of it. */
const WIDTH = 1024

/** Draws the scene with outlines of the query tile (white) and its matches (a thicker line for a better match). */
export async function drawMatches(
  scene: string,
  path: string,
  options: { readonly tile: number; readonly query: number; readonly matches: readonly Match[] },
): Promise<void> {
  const { pixels, size } = await shrink(scene)
  const { tile, query, matches } = options
  const columns = Math.ceil(size / tile)
  const side = (tile * WIDTH) / size
  const square = (id: number, color: string, width: number, label: string) => {
    const x = (id % columns) * side
    const y = Math.floor(id / columns) * side
    const inner = side - width
    return `<rect x="${x + width / 2}" y="${y + width / 2}" width="${inner}" height="${inner}" fill="none" stroke="${color}" stroke-width="${width}"/>
      <text x="${x + 6}" y="${y + side - 8}" font-family="sans-serif" font-size="13" fill="${color}">${label}</text>`
  }
  const marks = matches.map((match, i) =>
    square(match.id, '#ffd400', 5 - (i * 3) / matches.length, match.similarity.toFixed(3)),
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${WIDTH}">${marks.join('')}${square(query, '#ffffff', 6, 'query')}</svg>`
  await sharp(pixels, { raw: { width: WIDTH, height: WIDTH, channels: 3 } })
    .composite([{ input: Buffer.from(svg) }])
    .png()
    .toFile(path)
}

/** The first three bands of a square raster; each pixel is the mean of a square of the scene. */
async function shrink(scene: string): Promise<{ pixels: Uint8Array; size: number }> {
  using source = openFileSource(scene)
  const raster = openGeoTiff(source)
  const { width: size } = raster
  const factor = size / WIDTH
  const pixels = new Uint8Array(WIDTH * WIDTH * 3)
  for (let band = 0; band < 3; band++) {
    const samples = await readWindow(source, raster, { x: 0, y: 0, width: size, height: size, band })
    for (let row = 0; row < WIDTH; row++) {
      for (let column = 0; column < WIDTH; column++) {
        let sum = 0
        for (let y = 0; y < factor; y++) {
          const start = (row * factor + y) * size + column * factor
          for (let x = 0; x < factor; x++) sum += samples[start + x] as number
        }
        pixels[(row * WIDTH + column) * 3 + band] = sum / (factor * factor)
      }
    }
  }
  return { pixels, size }
}
