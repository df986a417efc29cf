import { createHash } from 'node:crypto'

import { InferenceSession, Tensor } from 'onnxruntime-node'
import { describe, expect, test } from 'vitest'

import { seededRandom } from '@terrane/core'
import { TEXTURES, naturalImage, rotate90, textureImage } from '../../test/fixtures/textures.ts'
import { VIEWS, crop, seenOtherwise, type View } from '../../test/fixtures/views.ts'
import { buildTextureFeatures, buildTextureSpectral, buildTextureSpectralV2, CALIBRATION } from './texture-spectral.ts'

const SIZE = 128

async function open(bytes: Uint8Array, threads = 1): Promise<InferenceSession> {
  return InferenceSession.create(bytes, { intraOpNumThreads: threads, logSeverityLevel: 3 })
}

async function run(session: InferenceSession, images: readonly Float32Array[], size = SIZE): Promise<Float32Array[]> {
  const pixels = new Float32Array(images.length * 3 * size * size)
  for (const [i, image] of images.entries()) pixels.set(image, i * 3 * size * size)
  const input = new Tensor('float32', pixels, [images.length, 3, size, size])
  const output = Object.values(await session.run({ pixel_values: input }))[0]
  if (!(output?.data instanceof Float32Array)) throw new Error('no output')
  const { data } = output
  const dims = data.length / images.length
  return images.map((_, i) => data.slice(i * dims, (i + 1) * dims))
}

function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0
  for (let i = 0; i < a.length; i++) dot += a[i]! * b[i]!
  return dot / (Math.hypot(...a) * Math.hypot(...b))
}

/** The place of the vector that is most like it. */
function placeOf(vectors: readonly Float32Array[], seen: Float32Array): number {
  const near = vectors.map((vector) => cosine(vector, seen))
  return near.indexOf(Math.max(...near))
}

/** Mean share of the same label among the five nearest of each vector. */
function precisionAtFive(vectors: readonly Float32Array[], labels: readonly number[]): number {
  let hits = 0
  for (const [i, vector] of vectors.entries()) {
    const nearest = vectors
      .map((other, j) => ({ j, near: cosine(vector, other) }))
      .filter(({ j }) => j !== i)
      .toSorted((a, b) => b.near - a.near)
    for (const { j } of nearest.slice(0, 5)) if (labels[j] === labels[i]) hits++
  }
  return hits / (5 * vectors.length)
}

/** Per channel: mean, deviation, least and greatest value; standardised over the set. */
function imageStatistics(images: readonly Float32Array[]): Float32Array[] {
  const rows = images.map((image) => {
    const row = new Float32Array(12)
    for (let c = 0; c < 3; c++) {
      const channel = image.subarray((c * image.length) / 3, ((c + 1) * image.length) / 3)
      const mean = channel.reduce((sum, value) => sum + value, 0) / channel.length
      const variance = channel.reduce((sum, value) => sum + (value - mean) ** 2, 0) / channel.length
      const least = channel.reduce((low, value) => Math.min(low, value), 1)
      const greatest = channel.reduce((high, value) => Math.max(high, value), 0)
      row.set([mean, Math.sqrt(variance), least, greatest], c * 4)
    }
    return row
  })
  for (let i = 0; i < 12; i++) {
    const mean = rows.reduce((sum, row) => sum + row[i]!, 0) / rows.length
    const spread = Math.sqrt(rows.reduce((sum, row) => sum + (row[i]! - mean) ** 2, 0) / rows.length)
    for (const row of rows) row[i] = (row[i]! - mean) / spread
  }
  return rows
}

describe('the graph', () => {
  test.for([
    [1, buildTextureSpectral, 20334, 'df28e9538479797b9df58f8c02108872b934d71ffab98804f349db1fe509ce65'],
    [2, buildTextureSpectralV2, 45495, '6569500ded31aaa661ec885fb651f9c3304c9a19a9d3cdc8b42a4fbe08c4c903'],
  ] as const)('of version %d is the same to the byte on every build', ([, build, bytes, sha256]) => {
    const graph = build()
    expect(graph.length).toBe(bytes)
    expect(createHash('sha256').update(graph).digest('hex')).toBe(sha256)
  })

  test('of version 1 is calibrated on procedural images: the table is what they give', async () => {
    const session = await open(buildTextureFeatures())
    const rows: Float32Array[] = []
    for (let seed = 1000; seed < 1256; seed += 4) {
      rows.push(
        ...(await run(
          session,
          [0, 1, 2, 3].map((i) => naturalImage(seed + i, SIZE)),
        )),
      )
    }
    for (const [i, [mean, spread]] of CALIBRATION.entries()) {
      const actualMean = rows.reduce((sum, row) => sum + row[i]!, 0) / rows.length
      const actualSpread = Math.sqrt(rows.reduce((sum, row) => sum + (row[i]! - actualMean) ** 2, 0) / rows.length)
      expect(mean, `mean of feature ${i}`).toBeCloseTo(actualMean, 2)
      const floor = i >= 6 && i < 31 ? 0.05 : 0.002
      expect(spread, `spread of feature ${i}`).toBeCloseTo(Math.max(floor, actualSpread), 2)
    }
  })
})

describe('embeddings', () => {
  const names = Object.keys(TEXTURES)
  const labels = names.flatMap((_, label) => Array.from({ length: 8 }, () => label))
  const images = names.flatMap((name) => Array.from({ length: 8 }, (_, i) => textureImage(name, i, SIZE)))

  let imageVectors: Promise<Float32Array[]> | undefined
  /** The embeddings of all images, which are computed once. */
  const embedded = (): Promise<Float32Array[]> =>
    (imageVectors ??= open(buildTextureSpectralV2()).then((session) => run(session, images)))

  test('find images of the same texture, where plain image statistics do not', async () => {
    const found = precisionAtFive(await embedded(), labels)
    const baseline = precisionAtFive(imageStatistics(images), labels)
    expect(found).toBeGreaterThan(0.97)
    expect(baseline).toBeLessThan(0.85)
  })

  test('find the same place in other light, through haze, turned and moved', async () => {
    const session = await open(buildTextureSpectralV2())
    const random = seededRandom(31)
    const scenes = Array.from({ length: 60 }, (_, i) => naturalImage(9000 + i, SIZE + 8))
    const see = (view: View) =>
      run(
        session,
        scenes.map((scene) => seenOtherwise(view, scene, SIZE, random)),
      )
    const plain = await see('plain')
    for (const view of VIEWS) {
      const found = (await see(view)).filter((seen, i) => placeOf(plain, seen) === i)
      expect(found.length / scenes.length, view).toBeGreaterThanOrEqual(0.95)
    }
    const [left, right] = [0, 4].map((at) => scenes.map((scene) => crop(scene, SIZE, at, at)))
    const before = await run(session, left!)
    const moved = (await run(session, right!)).filter((seen, i) => placeOf(before, seen) === i)
    expect(moved.length / scenes.length, 'moved by 4 pixels both ways').toBeGreaterThanOrEqual(0.95)
  })

  test('do not change when the tile is turned', async () => {
    const session = await open(buildTextureSpectralV2())
    const straight = await embedded()
    const turned = await run(
      session,
      images.map((image) => rotate90(image, SIZE)),
    )
    for (const [i, vector] of straight.entries()) expect(cosine(vector, turned[i]!)).toBeGreaterThan(0.999)
  })

  test('hardly change with brightness', async () => {
    const session = await open(buildTextureSpectralV2())
    const plain = await embedded()
    const brighter = await run(
      session,
      images.map((image) => image.map((value) => Math.min(1, value * 1.15))),
    )
    const near = plain.map((vector, i) => cosine(vector, brighter[i]!)).toSorted((a, b) => a - b)
    expect(near[near.length >> 1]).toBeGreaterThan(0.95)
  })

  test('are the same alone and in a batch, with one thread and with two', async () => {
    const one = await open(buildTextureSpectralV2())
    const two = await open(buildTextureSpectralV2(), 2)
    const batch = images.slice(0, 4)
    const together = await run(two, batch)
    for (const [i, image] of batch.entries()) {
      const [alone] = await run(one, [image])
      for (let d = 0; d < 64; d++) expect(Math.abs(alone![d]! - together[i]![d]!)).toBeLessThan(1e-5)
    }
  })

  test.for([64, 80, 256, 320])('are finite for flat and for noisy tiles of %d pixels', async (size) => {
    const session = await open(buildTextureSpectralV2())
    const flat = [0, 0.5, 1].map((value) => new Float32Array(3 * size * size).fill(value))
    const vectors = await run(session, [...flat, naturalImage(5, size)], size)
    for (const vector of vectors) {
      expect(vector.length).toBe(64)
      expect(vector.every(Number.isFinite)).toBe(true)
    }
  })
})
