import potpack from 'potpack'
import sharp from 'sharp'
import { badMapFile, spriteTooLarge } from './errors.ts'

/** Side of the largest icon in pixels of the map. */
const MOST_SIDE = 512
export const MOST_ICONS = 1000
/** Pixels of a side of the largest sheet: 4096, which every graphics card accepts as a texture. */
const MOST_PIXELS = 4096
/** Maximum pixels of a decoded picture. */
const MOST_DECODED = 4 * MOST_SIDE * MOST_SIDE * 4
const SECONDS = 10
/** Pixels between icons, so that the edge of an icon shows no part of its neighbour. */
const GAP = 1
const HINT = `Send an SVG or a PNG of at most ${MOST_SIDE} × ${MOST_SIDE} pixels of the map.`

const SVG = 'image/svg+xml'
export const PNG = 'image/png'

/** An icon of a sprite. */
export interface Icon {
  readonly name: string
  readonly content: Uint8Array
  readonly mediaType: string
  /** Pixels of a PNG for each pixel of the map. */
  readonly pixelRatio: number
}

/** Position of an icon in its sheet (MapLibre style specification, sprite). */
interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly pixelRatio: number
}

/** A sheet of icons and its index. */
export interface Sheet {
  readonly index: Readonly<Record<string, Place>>
  readonly png: Buffer
}

/** Type of a picture by its content. @throws BAD_MAP_FILE */
export function iconType(content: Uint8Array): string {
  const head = Buffer.from(content.subarray(0, 1024)).toString('latin1')
  if (head.startsWith('\u0089PNG\r\n')) return PNG
  if (/<svg[\s>]/.test(Buffer.from(content.subarray(0, 65_536)).toString('latin1'))) return SVG
  throw badMapFile('icon', 'it is neither an SVG nor a PNG', HINT)
}

/** Draws an icon once as a check. @throws BAD_MAP_FILE */
export async function checkIcon(icon: Icon): Promise<void> {
  await drawn(icon, icon.mediaType === SVG ? 2 : 1)
}

/** Packs icons into a sheet of `ratio` pixels per map pixel; PNGs stay. @throws BAD_MAP_FILE, SPRITE_TOO_LARGE */
export async function makeSheet(icons: readonly Icon[], ratio: number): Promise<Sheet> {
  let pixels = 0
  const boxes = []
  for (const icon of icons) {
    const { data, info } = await drawn(icon, ratio)
    pixels += info.width * info.height
    if (pixels > MOST_PIXELS * MOST_PIXELS) throw spriteTooLarge(`more than ${MOST_PIXELS} × ${MOST_PIXELS} pixels`)
    const pixelRatio = icon.mediaType === SVG ? ratio : icon.pixelRatio
    boxes.push({ name: icon.name, data, info, pixelRatio, w: info.width + GAP, h: info.height + GAP, x: 0, y: 0 })
  }
  const { w, h } = potpack(boxes)
  const [width, height] = [Math.max(1, w), Math.max(1, h)]
  if (width > MOST_PIXELS || height > MOST_PIXELS)
    throw spriteTooLarge(`${width} × ${height} pixels, and ${MOST_PIXELS} × ${MOST_PIXELS} is the most`)
  const layers = boxes.map(({ data, info: { width: wide, height: high }, x, y }) => ({
    input: data,
    raw: { width: wide, height: high, channels: 4 as const },
    left: x,
    top: y,
  }))
  const empty = { width, height, channels: 4 as const, background: { r: 0, g: 0, b: 0, alpha: 0 } }
  const png = await sharp({ create: empty }).composite(layers).png({ compressionLevel: 9 }).toBuffer()
  const index = boxes
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, info, x, y, pixelRatio }) => [name, { x, y, width: info.width, height: info.height, pixelRatio }])
  return { index: Object.fromEntries(index) as Sheet['index'], png }
}

async function drawn({ content, mediaType, pixelRatio }: Icon, ratio: number) {
  const isSvg = mediaType === SVG
  // 72 dots per inch draw an SVG in its own size.
  const options = isSvg ? { density: 72 * ratio } : {}
  try {
    const image = sharp(content, { ...options, limitInputPixels: MOST_DECODED, failOn: 'error' })
    const { width, height } = await image.metadata()
    const most = MOST_SIDE * (isSvg ? ratio : pixelRatio)
    if (width > most || height > most) throw new RangeError(`it is ${width} × ${height} pixels at ${ratio}×`)
    return await image
      .timeout({ seconds: SECONDS })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true })
  } catch (error) {
    throw badMapFile('icon', error instanceof Error ? error.message.slice(0, 200) : 'it cannot be drawn', HINT)
  }
}
