import { createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { seededRandom } from '@terrane/core'
import { streamGeoTiff, type ImageSource } from '@terrane/testing/geotiff'
import { GROUND, SCENE, drawSceneMap, type SceneMap } from './scene-map.ts'

/** Red, green, blue and near infrared, 0 to 255. */
type Color = readonly [number, number, number, number]

const COLORS: Readonly<Record<number, Color>> = {
  [GROUND.meadow]: [98, 122, 64, 176],
  [GROUND.water]: [38, 62, 84, 14],
  [GROUND.forest]: [36, 66, 38, 150],
  [GROUND.garden]: [92, 108, 66, 150],
  [GROUND.industry]: [140, 138, 134, 70],
  [GROUND.road]: [152, 150, 148, 60],
  [GROUND.track]: [176, 160, 130, 100],
  [GROUND.rail]: [112, 100, 92, 60],
}
const CROPS: Readonly<Record<string, Color>> = {
  barley: [178, 164, 104, 126],
  grass: [92, 126, 58, 186],
  maize: [74, 108, 52, 192],
  rapeseed: [176, 172, 62, 170],
  sugar_beet: [84, 118, 62, 180],
  wheat: [188, 170, 112, 130],
}
const ROOFS: readonly Color[] = [
  [158, 84, 64, 78],
  [132, 70, 58, 72],
  [110, 108, 110, 66],
  [186, 180, 174, 90],
]

/**
 * Writes the demo scene: a cloud-optimized GeoTIFF of 4 bands (red, green, blue, near infrared) of the demo town, with its
 * fields, water, forest and houses. The same bytes on every machine.
 */
export async function writeScene(path: string): Promise<void> {
  const { epsg, metresPerPixel } = SCENE
  const map = drawSceneMap()
  const temporary = `${path}.part`
  const parts = streamGeoTiff(imageOf(map), {
    type: 'uint8',
    compression: 'deflate',
    predictor: 2,
    tileSize: 512,
    color: 'rgb',
    extraSamples: [0],
    overviews: 3,
    georeference: { epsg, affine: [map.west, metresPerPixel, 0, map.north, 0, -metresPerPixel] },
  })
  await pipeline(Readable.from(parts), createWriteStream(temporary))
  await rename(temporary, path)
}

function imageOf(map: SceneMap): ImageSource {
  const { size } = SCENE
  const medium = latticeNoise(12, 18)
  const fine = latticeNoise(13, 3)
  const slow = latticeNoise(14, 240)
  return {
    width: size,
    height: size,
    bands: 4,
    read(left, top, width, height) {
      const values = new Uint8Array(width * height * 4)
      let at = 0
      for (let y = top; y < top + height; y++) {
        for (let x = left; x < left + width; x++) {
          const ground = map.ground[y * size + x] as number
          const color = colorOf(map, ground, x, y)
          const light = lightOf(ground, x, y, slow(x, y), medium(x, y), fine(x, y))
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

function colorOf(map: SceneMap, ground: number, x: number, y: number): Color {
  if (ground >= GROUND.field)
    return CROPS[map.crops[ground - GROUND.field] as string] ?? (COLORS[GROUND.meadow] as Color)
  if (ground !== GROUND.roof) return COLORS[ground] as Color
  // The distance between houses is larger, so each has one roof colour.
  return ROOFS[Math.floor(hash(x >> 5, y >> 5) * ROOFS.length)] as Color
}

/** Brightness of a pixel; noise in [-1, 1] has waves of many metres (`slow`), some (`medium`) or one (`fine`). */
function lightOf(ground: number, x: number, y: number, slow: number, medium: number, fine: number): number {
  switch (ground) {
    case GROUND.water:
      return 1 + slow * 0.06 + medium * 0.04 + fine * 0.03
    case GROUND.forest:
      // Tree crowns: bright spots with dark gaps.
      return 0.95 + medium * 0.45 + fine * 0.3
    case GROUND.garden:
      return 0.95 + medium * 0.22 + fine * 0.2
    case GROUND.roof:
      return 1 + fine * 0.1
    case GROUND.meadow:
      return 1 + slow * 0.1 + medium * 0.1 + fine * 0.06
    default:
      // Rows of plants on fields, noise on other ground.
      return ground >= GROUND.field
        ? 1 + Math.sin((x * 0.94 + y * 0.34) * 0.9) * 0.07 + medium * 0.08 + fine * 0.05
        : 1 + fine * 0.06
  }
}

/** A hash of two integers as a number in [0, 1). */
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
  const at = (column: number, row: number) => values[(row & (side - 1)) * side + (column & (side - 1))] as number
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
