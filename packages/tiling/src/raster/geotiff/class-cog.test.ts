import { seededRandom } from '@terrane/core'
import { fromArrayBuffer } from 'geotiff'
import { expect, test } from 'vitest'
import { bufferSource } from '../source.ts'
import { readWindow } from '../window.ts'
import { emptyCodes, encodeClassCog } from './class-cog.ts'
import { openGeoTiff } from './open.ts'

const CRS = { epsg: 32632, isGeographic: false }
const AFFINE = [500_000, 2560, 0, 5_400_000, 0, -2560] as const

/** Random codes; 0 is no class. */
function rasterOf(width: number, height: number, count: number) {
  const random = seededRandom(width)
  const codes = emptyCodes(width * height, count).map(() => Math.floor(random() * (count + 1)))
  const classes = Array.from({ length: count }, (_, i) => `class ${i + 1}`)
  return { width, height, codes, classes, affine: AFFINE, crs: CRS }
}

async function read(parts: readonly Uint8Array[]) {
  const bytes = Buffer.concat(parts)
  const tiff = await fromArrayBuffer(Uint8Array.from(bytes).buffer)
  const levels = []
  for (let i = 0; i < (await tiff.getImageCount()); i++) {
    const image = await tiff.getImage(i)
    const [values] = (await image.readRasters()) as unknown as [Uint8Array]
    levels.push({ width: image.getWidth(), height: image.getHeight(), values: Array.from(values) })
  }
  return { bytes, image: await tiff.getImage(0), levels }
}

/** Most frequent classes of the four pixels below each pixel. */
function modesOf({ width, height, values }: { width: number; height: number; values: number[] }): Set<number>[] {
  const modes: Set<number>[] = []
  for (let y = 0; y < height; y += 2) {
    for (let x = 0; x < width; x += 2) {
      const counts = new Map<number, number>()
      for (const [dx, dy] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ] as const) {
        // prettier-ignore
        if (x + dx >= width || y + dy >= height) continue
        const value = values[(y + dy) * width + x + dx]!
        if (value !== 0) counts.set(value, (counts.get(value) ?? 0) + 1)
      }
      const most = Math.max(...counts.values())
      const found = [...counts].filter(([, count]) => count === most).map(([value]) => value)
      modes.push(new Set(found.length > 0 ? found : [0]))
    }
  }
  return modes
}

test.each([
  ['bytes', 3, 8],
  ['numbers of 16 bits', 256, 16],
])('classes as %s are read by geotiff.js, with overviews by the most frequent class', async (_, count, bits) => {
  const raster = rasterOf(1101, 643, count)
  const { image, levels } = await read(await encodeClassCog(raster))
  expect(image.getBitsPerSample(0)).toBe(bits)
  expect(levels.map(({ width, height }) => [width, height])).toEqual([[1101, 643], [551, 322], [276, 161]]) // prettier-ignore
  expect(levels[0]!.values.filter((value, i) => value !== raster.codes[i])).toEqual([])
  for (const [i, level] of levels.slice(1).entries()) {
    const wrong = modesOf(levels[i]!).filter((modes, pixel) => !modes.has(level.values[pixel]!))
    expect(wrong).toEqual([])
  }
})

test('the file tells place, nodata, names and colours, and begins with its directories', async () => {
  const raster = {
    ...rasterOf(3, 2, 2),
    classes: ['water', 'built <& "dense"'],
    tags: { CLASSIFIER: 'cover & <more>' },
  }
  const { image, bytes } = await read(await encodeClassCog(raster))
  expect(image.getGDALNoData()).toBe(0)
  expect(image.getGeoKeys()).toMatchObject({ ProjectedCSTypeGeoKey: 32632, GTRasterTypeGeoKey: 1 })
  expect(image.getBoundingBox()).toEqual([500_000, 5_400_000 - 2 * 2560, 500_000 + 3 * 2560, 5_400_000])
  expect(await image.getGDALMetadata(0)).toMatchObject({ DESCRIPTION: 'class', CLASS_1: 'water' })
  const info = openGeoTiff(bufferSource(bytes))
  expect(info).toMatchObject({
    epsg: 32632,
    affine: AFFINE,
    nodata: 0,
    color: 'palette',
    tags: { CLASSIFIER: 'cover & <more>' },
  })
  const colors = [0, 1, 2].map((code) => info.palette!.subarray(3 * code, 3 * code + 3).join())
  expect(new Set(colors).size).toBe(3)
  expect(colors[0]).toBe('0,0,0')
  const window = { band: 0, x: 0, y: 0, width: 3, height: 2 }
  expect(Array.from(await readWindow(bufferSource(bytes), info, window))).toEqual(Array.from(raster.codes))
  expect(bytes.toString('latin1')).toContain('CLASS_2" sample="0">built &amp;lt;&amp;amp; &amp;quot;dense&amp;quot;<')
  expect(bytes.toString('latin1', 16, 45)).toBe('GDAL_STRUCTURAL_METADATA_SIZE')
  const [offset, size] = [info.blockOffsets[0]!, info.blockByteCounts[0]!]
  expect(bytes.readUInt32LE(offset - 4)).toBe(size)
  expect(bytes.readUInt32LE(offset + size)).toBe(bytes.readUInt32LE(offset + size - 4))
  expect(Number(bytes.readBigUInt64LE(8))).toBeLessThan(info.blockOffsets[0]!)
})

test('an aborted signal ends it', async () => {
  await expect(encodeClassCog(rasterOf(4, 4, 2), AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
})
