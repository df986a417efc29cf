import { expect, test } from 'vitest'
import { buildPmtiles, buildPmtilesInThread } from '../../src/vector/index.ts'
import type { FeatureBatch } from '../../src/vector/index.ts'
import { batchesOf, point } from './feature-source.ts'
import { randomFeatures } from './random-features.ts'
import { bytesOf } from './read-archive.ts'

const features = randomFeatures(400, 41)
const attributes = Object.keys(features[0]!.properties!)
const options = { layers: [{ name: 'x', attributes }], zooms: [0, 8] as const, memoryBytes: 1 << 18 }

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

/** Batches with memory of their own, which another thread may take. */
async function* ownBatches(): AsyncGenerator<FeatureBatch> {
  for await (const batch of batchesOf(features, attributes, 40)) yield { ...batch, geometry: batch.geometry.slice() }
}

test('an archive made on another thread is the same to the byte', async () => {
  const phases = new Set<string>()
  await using threaded = await buildPmtilesInThread(ownBatches(), {
    ...options,
    onProgress: ({ phase }) => phases.add(phase),
  })
  using inline = await buildPmtiles(batchesOf(features, attributes), options)
  const bytes = await collect(threaded.read())
  expect(bytes.equals(bytesOf(inline))).toBe(true)
  const { bytes: size, tiles, bounds, center, features: count, skipped, dropped, metadata } = inline
  expect(threaded).toMatchObject({ bytes: size, tiles, bounds, center, features: count, skipped, dropped, metadata })
  expect(phases).toContain('read')
})

test('errors keep their code across threads', async () => {
  const none = batchesOf([{ geometry: null }], [])
  await expect(buildPmtilesInThread(none, { layers: [{ name: 'x', attributes: [] }] })).rejects.toMatchObject({
    code: 'NO_FEATURES',
    kind: 'invalid',
  })
  const many = Array.from({ length: 3000 }, (_, id) => ({ id, geometry: point(1, 1), properties: { v: id } }))
  await expect(
    buildPmtilesInThread(batchesOf(many, ['v']), {
      layers: [{ name: 'x', attributes: ['v'] }],
      zooms: [0, 2],
      maxTileBytes: 1000,
    }),
  ).rejects.toMatchObject({ code: 'TILE_TOO_LARGE', hint: expect.stringContaining('maxTileBytes') })
})

test('an error of the source ends the thread and comes through; the source is closed', async () => {
  let closed = false
  const failing = async function* () {
    try {
      yield* ownBatches()
      throw new Error('source gone')
    } finally {
      closed = true
    }
  }
  await expect(buildPmtilesInThread(failing(), options)).rejects.toThrow('source gone')
  expect(closed).toBe(true)
})

test.each(['read', 'encode'])('an abort during %s ends it at once', async (phase) => {
  const controller = new AbortController()
  const promise = buildPmtilesInThread(ownBatches(), {
    ...options,
    zooms: [0, 13],
    signal: controller.signal,
    onProgress: (progress) => progress.phase === phase && controller.abort(new Error('enough')),
  })
  await expect(promise).rejects.toThrow('enough')
})
