import { createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { seededRandom } from '@terrane/core'
import { streamGeoTiff, type ImageSource } from '@terrane/testing/geotiff'
import { GROUND, SCENE, groundAt } from './scene-map.ts'

/** Red, green, blue and near infrared of each ground, 0 to 255. */
const COLORS: Readonly<Record<number, readonly [number, number, number, number]>> = {
  [GROUND.water]: [38, 62, 84, 14],
  [GROUND.forest]: [36, 66, 38, 150],
  [GROUND.town]: [128, 122, 118, 70],
  [GROUND.road]: [150, 148, 146, 60],
}
/** Crops, fallow land and meadows. */
const FIELDS: readonly (readonly [number, number, number, number])[] = [
  [92, 120, 60, 170],
  [120, 134, 66, 180],
  [168, 150, 96, 120],
  [142, 118, 84, 95],
  [76, 108, 54, 190],
  [184, 170, 112, 130],
]
const ROOFS: readonly (readonly [number, number, number, number])[] = [
  [158, 84, 64, 78],
  [132, 70, 58, 72],
  [110, 108, 110, 66],
  [186, 180, 174, 90],
]

/**
 * Writes the demo scene: a cloud-optimized GeoTIFF of 4 bands (red, green, blue, near infrared) with fields, water, forest
 * and a town. The same bytes on every machine.
 */
export async function writeScene(path: string): Promise<void> {
  const { epsg, west, north, metresPerPixel } = SCENE
  const temporary = `${path}.part`
  const parts = streamGeoTiff(sceneImage(), {
    type: 'uint8',
    compression: 'deflate',
    predictor: 2,
    tileSize: 512,
    color: 'rgb',
    extraSamples: [0],
    overviews: 3,
    georeference: { epsg, affine: [west, metresPerPixel, 0, north, 0, -metresPerPixel] },
  })
  await pipeline(Readable.from(parts), createWriteStream(temporary))
  await rename(temporary, path)
}

/** The scene as an image, row by row. */
function sceneImage(): ImageSource {
  const { size } = SCENE
  const slow = latticeNoise(11, 220)
  const medium = latticeNoise(12, 18)
  const fine = latticeNoise(13, 3)
  return {
    width: size,
    height: size,
    bands: 4,
    read(left, top, width, height) {
      const values = new Uint8Array(width * height * 4)
      let at = 0
      for (let y = top; y < top + height; y++) {
        for (let x = left; x < left + width; x++) {
          const ground = groundAt(x, y, slow(x, y))
          const m = medium(x, y)
          const f = fine(x, y)
          const [color, light] = paint(ground, x, y, m, f)
          for (let band = 0; band < 4; band++) {
            const value = (color[band] as number) * light
            values[at++] = value < 0 ? 0 : value > 255 ? 255 : value
          }
        }
      }
      return values
    },
  }
}

/** Colour of a pixel and how much light falls on it. `m` and `f` are noise of some metres and of a metre, in [-1, 1]. */
function paint(ground: number, x: number, y: number, m: number, f: number): readonly [readonly number[], number] {
  switch (ground) {
    case GROUND.water:
      return [COLORS[GROUND.water] as readonly number[], 1 + m * 0.05 + f * 0.03]
    case GROUND.forest:
      // Crowns: bright spots with dark gaps.
      return [COLORS[GROUND.forest] as readonly number[], 0.95 + m * 0.45 + f * 0.3]
    case GROUND.town:
      return paintTown(x, y, f)
    case GROUND.road:
      return [COLORS[GROUND.road] as readonly number[], 1 + f * 0.06]
    default:
      return paintField(x, y, m, f)
  }
}

/** Parcels between tilted lines, each with its crop, and rows of plants along one side. */
function paintField(x: number, y: number, m: number, f: number): readonly [readonly number[], number] {
  const u = x * 0.94 + y * 0.34
  const v = -x * 0.34 + y * 0.94
  const row = Math.floor(v / 310)
  const column = Math.floor((u + hash(row, 7) * 200) / (150 + hash(row, 3) * 160))
  const crop = FIELDS[Math.floor(hash(row, column) * FIELDS.length)] as readonly number[]
  const rows = hash(column, row) > 0.5 ? Math.sin(u * 0.9) : Math.sin(v * 0.9)
  return [crop, 1 + rows * 0.07 + m * 0.08 + f * 0.05]
}

/** Streets in a grid, plots with houses and gardens. */
function paintTown(x: number, y: number, f: number): readonly [readonly number[], number] {
  const block = 96
  const inX = ((x % block) + block) % block
  const inY = ((y % block) + block) % block
  if (inX < 9 || inY < 9) return [COLORS[GROUND.road] as readonly number[], 0.92 + f * 0.05]
  const plotX = Math.floor((inX - 9) / 22)
  const plotY = Math.floor((inY - 9) / 29)
  const id = hash(Math.floor(x / block) * 4 + plotX, Math.floor(y / block) * 3 + plotY)
  const houseX = (inX - 9) % 22
  const houseY = (inY - 9) % 29
  const width = 10 + id * 8
  const depth = 12 + id * 10
  if (houseX > 3 && houseX < 3 + width && houseY > 4 && houseY < 4 + depth) {
    const roof = ROOFS[Math.floor(id * 97) % ROOFS.length] as readonly number[]
    return [roof, houseX - 3 < width / 2 ? 1.08 : 0.86]
  }
  return [FIELDS[4] as readonly number[], 0.85 + f * 0.15]
}

/** A number in [0, 1) that belongs to a pair of whole numbers. */
function hash(a: number, b: number): number {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b ^ 0xc2b2ae35, 0x27d4eb2f)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  return ((h ^ (h >>> 13)) >>> 0) / 4294967296
}

/** Smooth noise in [-1, 1]: bilinear between random values on a lattice of the given spacing in pixels. */
function latticeNoise(seed: number, spacing: number): (x: number, y: number) => number {
  const side = 512
  const random = seededRandom(seed)
  const values = Float32Array.from({ length: side * side }, () => random() * 2 - 1)
  const at = (column: number, row: number) => values[((row & (side - 1)) * side + (column & (side - 1))) | 0] as number
  return (x, y) => {
    const u = x / spacing
    const v = y / spacing
    const column = Math.floor(u)
    const row = Math.floor(v)
    const s = u - column
    const t = v - row
    const top = at(column, row) * (1 - s) + at(column + 1, row) * s
    const bottom = at(column, row + 1) * (1 - s) + at(column + 1, row + 1) * s
    return top * (1 - t) + bottom * t
  }
}
