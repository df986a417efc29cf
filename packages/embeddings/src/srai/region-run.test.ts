import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Progress } from '@terrane/core'
import { describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../test/fixtures/models.ts'
import { type FakeFeatures, fakeFeatures, openFeatures } from '../../test/fixtures/region-features.ts'
import { EMBEDDER_NAMES, completeEmbedder, embedderModelName, embedderOf } from './embedders/embedder.ts'
import type { PolygonRings } from './geometry.ts'
import { parseOsmFilter } from './osm-filter.ts'
import { embedRegions } from './region-embeddings.ts'
import { type RegionRunRequest, openRegionRun } from './region-run.ts'
import { coverArea } from './regions.ts'

const bbox = [9.15, 45.44, 9.22, 45.48] as const
const area: PolygonRings[] = [
  [
    [
      [9.15, 45.44],
      [9.22, 45.44],
      [9.22, 45.48],
      [9.15, 45.48],
      [9.15, 45.44],
    ],
  ],
]
const filter = parseOsmFilter({ amenity: true })

function request(fake: Partial<FakeFeatures> = {}, more: Partial<RegionRunRequest> = {}): RegionRunRequest {
  return {
    area,
    resolution: 9,
    filter,
    embedder: { kind: 'count' },
    source: fakeFeatures({ count: 5000, bbox, ...fake }),
    ...more,
  }
}

describe('a run', () => {
  test('gives the rows that the same computation gives in the calling thread, in the order of the cells', async () => {
    const progress: Progress[] = []
    await using run = await openRegionRun(request(), { onProgress: (one) => progress.push(one) })
    const cells = coverArea({ area, resolution: 9 })
    const direct = await embedRegions({
      cells,
      features: openFeatures({ count: 5000, bbox }),
      filter,
      embedder: { kind: 'count' },
    })
    expect(run.summary).toEqual({
      cells: cells.length,
      dims: 5,
      names: ['amenity_bank', 'amenity_bench', 'amenity_cafe', 'amenity_pub', 'amenity_school'],
      features: 5000,
      zeroVectors: run.summary.zeroVectors,
      losses: [],
      fingerprint: direct.fingerprint,
      counts: null,
    })
    const taken: string[] = []
    const row = new Float64Array(5)
    let zero = 0
    for await (const batch of run.batches()) {
      for (const [i, cell] of batch.cells.entries()) {
        direct.read(taken.length, row)
        taken.push(cell)
        expect([...batch.embeddings.subarray(i * 5, i * 5 + 5)]).toEqual([...row])
        expect(batch.polygons[i]).toHaveLength(1)
        if (row.every((value) => value === 0)) zero++
      }
    }
    expect(taken).toEqual(cells)
    expect(run.summary.zeroVectors).toBe(zero)
    expect(progress.map(({ phase }) => phase)).toEqual(['cover', 'count'])
  })

  test('trains hex2vec and reports its losses', async () => {
    const progress: Progress[] = []
    const embedder = { kind: 'hex2vec', layers: [16, 8], epochs: 2 } as const
    await using run = await openRegionRun(request({}, { embedder }), { onProgress: (one) => progress.push(one) })
    expect(run.summary).toMatchObject({ dims: 8, names: null })
    expect(run.summary.losses).toHaveLength(2)
    const training = progress.filter(({ phase }) => phase === 'train')
    expect(training.map(({ done }) => done)).toEqual(training.map(({ done }) => done).toSorted((a, b) => a - b))
    expect(training.at(-1)).toMatchObject({
      done: training[0]!.total,
      message: expect.stringContaining('epoch 2: loss'),
    })
  })

  test('of hex2vec has the fingerprint of what it learned', async () => {
    const embedder = { kind: 'hex2vec', layers: [8], epochs: 1, seed: 1 } as const
    const fingerprint = async (count: number): Promise<string> => {
      await using run = await openRegionRun(request({ count }, { embedder }))
      return run.summary.fingerprint
    }
    const first = await fingerprint(5000)
    expect(await fingerprint(5000)).toBe(first)
    expect(await fingerprint(4999)).not.toBe(first)
  })

  test('is refused over the guard before the source is opened', async () => {
    const log = join(temporaryFolder(), 'log')
    const guarded = request({ log }, { maxCells: { limit: 100, setting: 'MAX_H3_CELLS' } })
    await expect(openRegionRun(guarded)).rejects.toMatchObject({ code: 'size_guard_exceeded', kind: 'too_large' })
    await expect(openRegionRun(request({ log }, { resolution: 16 }))).rejects.toMatchObject({
      code: 'INVALID_H3_RESOLUTION',
    })
    await expect(openRegionRun(request({ log }, { area: [] }))).rejects.toMatchObject({ code: 'EMPTY_AREA' })
    expect(existsSync(log)).toBe(false)
  })

  test('asks for its source when the cells are known, and passes on what it says', async () => {
    const progress: Progress[] = []
    const order: string[] = []
    const source = async () => {
      order.push(...progress.map(({ phase }) => phase), 'source')
      return fakeFeatures({ count: 50_000, bbox, says: true })
    }
    await using run = await openRegionRun(request({}, { source }), { onProgress: (one) => progress.push(one) })
    expect(order).toEqual(['cover', 'source'])
    expect(run.summary.counts).toEqual({ broken: 3 })
    expect(progress.map(({ phase }) => phase)).toEqual(['cover', 'read', 'count'])
    const pending = openRegionRun(request({}, { source: () => Promise.reject(new Error('no such extract')) }))
    await expect(pending).rejects.toThrow('no such extract')
  })

  test('passes errors of the source on', async () => {
    await expect(openRegionRun(request({ failAfter: 10 }))).rejects.toMatchObject({
      code: 'UPSTREAM_DOWN',
      kind: 'upstream',
    })
    await expect(openRegionRun(request({ breakAfter: 10 }))).rejects.toMatchObject({
      code: 'REGION_EMBEDDING_FAILED',
      message: expect.stringContaining('unexpected end of file'),
    })
    await expect(openRegionRun(request({ exitAfter: 10 }))).rejects.toMatchObject({ code: 'REGION_THREAD_LOST' })
    const source = { module: 'data:text/javascript,export {}', options: null }
    await expect(openRegionRun(request({}, { source }))).rejects.toThrow('no function openFeatures')
  })

  test('stops at once with the reason of the signal', async () => {
    const controller = new AbortController()
    const reason = new Error('cancelled by test')
    setTimeout(() => controller.abort(reason), 100)
    const pending = openRegionRun(request({ delayMs: 20 }), { signal: controller.signal })
    await expect(pending).rejects.toBe(reason)
    await expect(openRegionRun(request(), { signal: controller.signal })).rejects.toBe(reason)
  })

  test('can be cancelled between batches', async () => {
    const controller = new AbortController()
    await using run = await openRegionRun(request(), { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(async () => {
      for await (const batch of run.batches()) expect(batch.cells.length).toBeGreaterThan(0)
    }).rejects.toThrow('enough')
  })
})

describe('embedders', () => {
  test('go by the names of requests, of the catalogue and of srai', () => {
    for (const name of [
      'contextual-count',
      'ContextualCountEmbedder',
      'srai-contextual-count-osm-v1',
      'contextual_count',
    ]) {
      expect(embedderOf(name)).toEqual({ kind: 'contextual-count' })
    }
    expect(embedderOf('CountEmbedder')).toEqual({ kind: 'count' })
    expect(embedderOf('Hex2VecEmbedder')).toEqual({ kind: 'hex2vec' })
    expect(EMBEDDER_NAMES.map((kind) => embedderOf(embedderModelName({ kind })).kind)).toEqual(EMBEDDER_NAMES)
  })

  test('that are not built are refused by name', () => {
    for (const name of ['Highway2VecEmbedder', 'geovex', 's2vec', 'gtfs2vec', '']) {
      expect(() => embedderOf(name)).toThrow(
        `The embedder "${name}" is not available; available are count, contextual-count, hex2vec`,
      )
    }
  })

  test('have options within bounds', () => {
    expect(completeEmbedder({ kind: 'hex2vec' })).toMatchObject({ layers: [150, 75, 50], epochs: 3, seed: 0 })
    expect(completeEmbedder({ kind: 'contextual-count', distance: 3 })).toMatchObject({ distance: 3, concat: false })
    expect(() => completeEmbedder({ kind: 'hex2vec', epochs: 101 })).toThrow(
      'epochs must be a whole number from 1 to 100',
    )
    expect(() => completeEmbedder({ kind: 'hex2vec', layers: [] })).toThrow('layers must have at least one size')
    expect(() => completeEmbedder({ kind: 'hex2vec', learningRate: 0 })).toThrow('learningRate')
    expect(() => completeEmbedder({ kind: 'hex2vec', negativeDistance: 1 })).toThrow('from 2 to 10')
    expect(() => completeEmbedder({ kind: 'contextual-count', distance: 0 })).toThrow('distance must be')
  })
})
