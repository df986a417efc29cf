import { fromArrayBuffer } from 'geotiff'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { pngToGeoTiff } from './png-to-geotiff.ts'

const SIDE = 4

/** A PNG of 16 bits whose samples are 1,300 apart. */
async function wide(channels: 1 | 3): Promise<{ png: Buffer; samples: Uint16Array }> {
  const samples = Uint16Array.from({ length: SIDE * SIDE * channels }, (_, i) => i * 1300)
  const raw = { width: SIDE, height: SIDE, channels }
  const png = await sharp(samples, { raw }).toColourspace(channels === 1 ? 'grey16' : 'rgb16').png().toBuffer() // prettier-ignore
  return { png, samples }
}

async function samplesOf(tiff: Uint8Array): Promise<{ values: number[]; bits: number }> {
  const image = await (await fromArrayBuffer(tiff.slice().buffer)).getImage()
  const values = (await image.readRasters({ interleave: true })) as unknown as ArrayLike<number>
  return { values: Array.from(values), bits: image.getBitsPerSample(0) }
}

test.each([1, 3] as const)('a PNG of 16 bits keeps its samples: %i channels', async (channels) => {
  const { png, samples } = await wide(channels)
  expect(await samplesOf(await pngToGeoTiff(png, 100))).toEqual({ values: Array.from(samples), bits: 16 })
})

test('where lines say what bytes stand for, a PNG of 16 bits is read as bytes', async () => {
  const { png } = await wide(3)
  const line = { scale: 2, offset: 10 }
  const { values, bits } = await samplesOf(await pngToGeoTiff(png, 100, [line, line, line]))
  expect(bits).toBe(8)
  expect(Math.max(...values)).toBeLessThanOrEqual(255)
})
