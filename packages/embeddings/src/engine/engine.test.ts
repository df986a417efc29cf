import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { InferenceSession, Tensor } from 'onnxruntime-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { temporaryFolder, tinyVitManifest, pinnedFile } from '../../test/fixtures/models.ts'
import { type FakeTiles, fakeTiles, fillTile } from '../../test/fixtures/tile-readers.ts'
import { BUILT_IN_MODEL } from '../models/built-in-manifests.ts'
import type { ModelManifest } from '../models/manifest.ts'
import type { Model } from '../models/acquire-files.ts'
import { openModelStore } from '../models/store.ts'
import { buildRandomVit } from '../onnx/random-vit.ts'
import type { EmbedProgress, EmbeddingBatch } from './embedding-run.ts'
import { type Engine, type EmbedRequest, openEngine } from './engine.ts'
import type { EngineMode } from './schedule.ts'

const SIZE = 64
const graph = buildRandomVit({ dim: 32, depth: 2, heads: 2, patch: 16, registers: 4 }, 7)

function vit(change: Partial<ModelManifest> = {}): Model {
  const manifest = { ...tinyVitManifest([pinnedFile('model.onnx', graph, null)]), ...change }
  return { manifest, graph, sha256: 'x', bytes: graph.length }
}

interface Result {
  readonly tiles: number[]
  readonly fractions: number[]
  readonly vectors: number[]
  readonly skipped: number
  readonly done: number
}

async function collect(engine: Engine, request: Omit<EmbedRequest, 'tileSize'>): Promise<Result> {
  const run = engine.embed({ tileSize: SIZE, ...request })
  const batches: EmbeddingBatch[] = []
  for await (const batch of run) batches.push(batch)
  return {
    tiles: batches.flatMap((batch) => Array.from(batch.tiles)),
    fractions: batches.flatMap((batch) => Array.from(batch.validFractions)),
    vectors: batches.flatMap((batch) => Array.from(batch.embeddings)),
    skipped: run.skipped,
    done: run.done,
  }
}

/** The outputs of the bare runtime for one tile after the other. */
async function bare(tiles: readonly number[]): Promise<{ hidden: number[][]; pooled: number[][] }> {
  const session = await InferenceSession.create(graph, { intraOpNumThreads: 1, logSeverityLevel: 3 })
  const hidden: number[][] = []
  const pooled: number[][] = []
  for (const tile of tiles) {
    const pixels = new Float32Array(3 * SIZE * SIZE)
    fillTile(tile, pixels)
    const output = await session.run({ pixel_values: new Tensor('float32', pixels, [1, 3, SIZE, SIZE]) })
    hidden.push([...output['last_hidden_state']!.data].map(Number))
    pooled.push([...output['pooler_output']!.data].map(Number))
  }
  return { hidden, pooled }
}

/** The greatest difference; infinite when the lengths differ. */
function furthest(actual: readonly number[], expected: readonly number[]): number {
  if (actual.length !== expected.length) return Infinity
  return actual.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0)
}

const unit = (vector: readonly number[]): number[] => vector.map((value) => value / Math.hypot(...vector))

async function open(model: Model): Promise<void> {
  const engine = await openEngine(model, { threads: 1 })
  await engine.close()
}

describe.for<EngineMode>(['parallel', 'pipeline'])('an engine for a device that is not there, %s', (mode) => {
  test('computes on the CPU as if none had been wanted, and says so', async () => {
    const absent = process.platform === 'win32' ? 'coreml' : 'dml'
    await using engine = await openEngine(vit(), { threads: 2, mode, providers: [absent] })
    expect(engine.choice).toMatchObject({ provider: 'cpu', refused: [{ provider: absent }] })
    expect(engine.mode).toBe(mode)
    await using plain = await openEngine(vit(), { threads: 2, mode })
    expect(plain.choice).toEqual({ provider: 'cpu', refused: [] })
    const request = { source: fakeTiles(9) }
    expect(await collect(engine, request)).toEqual(await collect(plain, request))
  })
})

describe.for<EngineMode>(['parallel', 'pipeline'])('the %s engine', (mode) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await openEngine(vit(), { threads: 2, mode })
  })
  afterAll(() => engine.close())
  const run = (tiles: number, fake: FakeTiles = {}, more: Partial<EmbedRequest> = {}): Promise<Result> =>
    collect(engine, { source: fakeTiles(tiles, fake), ...more })

  test('gives the numbers of the bare runtime, in the order of the tiles', async () => {
    const tiles = Array.from({ length: 41 }, (_, i) => i)
    const { pooled } = await bare(tiles)
    const raw = await run(41, {}, { normalize: false })
    expect(raw.tiles).toEqual(tiles)
    expect(furthest(raw.vectors, pooled.flat())).toBeLessThan(1e-5)
    expect(furthest((await run(41)).vectors, pooled.flatMap(unit))).toBeLessThan(1e-5)
  })

  test('gives the patches of each tile row by row, without CLS and registers', async () => {
    const { hidden } = await bare([0, 1, 2])
    const result = await run(3, {}, { level: 'patch', normalize: false })
    expect(result.vectors.length).toBe(3 * 16 * 32)
    const patches = hidden.flatMap((tokens) => tokens.slice(5 * 32))
    expect(furthest(result.vectors, patches)).toBeLessThan(1e-5)
  })

  test('goes on from any place that an earlier run has reached, with the same numbers', async () => {
    const whole = await run(41)
    const reached = new Set<number>()
    const first = engine.embed({ tileSize: SIZE, source: fakeTiles(41, {}) })
    for await (const _ of first) reached.add(first.done)
    reached.add(first.done)
    expect(reached.size).toBeGreaterThan(1)
    for (const from of reached) {
      const rest = await run(41, {}, { from })
      expect(rest.tiles).toEqual(whole.tiles.slice(from))
      expect(rest.vectors).toEqual(whole.vectors.slice(from * 32))
      expect(rest).toMatchObject({ skipped: 0, done: 41 })
    }
  })

  test('leaves out tiles with too little data, counts them, and changes no other result', async () => {
    const whole = await run(12)
    const some = await run(12, { validFractions: { 0: 0.49, 5: 0.5, 6: 0, 7: 0.1, 11: 0 } })
    expect(some.tiles).toEqual([1, 2, 3, 4, 5, 8, 9, 10])
    expect(some.fractions[4]).toBe(0.5)
    expect(some).toMatchObject({ skipped: 4, done: 12 })
    const kept = some.tiles.flatMap((tile) => whole.vectors.slice(tile * 32, tile * 32 + 32))
    expect(furthest(some.vectors, kept)).toBeLessThan(1e-5)
    expect(await run(5, { validFractions: { 0: 0, 1: 0, 2: 0, 3: 0, 4: 0 } })).toMatchObject({ tiles: [], skipped: 5 })
  })

  test('gives the same bits every time', async () => {
    const fake = { validFractions: { 3: 0, 9: 0.2 } }
    const [one, two] = [await run(37, fake), await run(37, fake)]
    expect(one).toEqual(two)
  })

  test('reports progress up to the end', async () => {
    const progress: EmbedProgress[] = []
    await run(20, { validFractions: { 2: 0 } }, { onProgress: (one) => progress.push(one) })
    const done = progress.map((one) => one.done)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    expect(progress.at(-1)).toMatchObject({
      phase: 'embed',
      done: 20,
      total: 20,
      unit: 'tiles',
      skipped: 1,
      etaSeconds: 0,
    })
  })

  test('reports progress while a tile takes long', async () => {
    const progress: EmbedProgress[] = []
    await run(1, { delayMs: 2300 }, { onProgress: (one) => progress.push(one) })
    expect(progress.filter((one) => one.done === 0)).toHaveLength(2)
  })

  test('passes the error of a tile on, and is ready for the next run', async () => {
    await expect(run(20, { corruptAt: 9 })).rejects.toMatchObject({ code: 'CORRUPT_TILE', kind: 'invalid' })
    expect((await run(4)).tiles).toEqual([0, 1, 2, 3])
  })

  test('refuses embeddings that are not finite, naming the tile', async () => {
    await expect(run(8, { nanAt: 6 })).rejects.toMatchObject({
      code: 'EMBEDDING_NOT_FINITE',
      message: expect.stringContaining('tile 6'),
    })
  })

  test('turns the end of a thread into an error, and starts anew', async () => {
    await expect(run(20, { exitAt: 9 })).rejects.toMatchObject({ code: 'INFERENCE_THREAD_LOST', retryable: true })
    expect((await run(4)).tiles).toEqual([0, 1, 2, 3])
  })

  test('a signal stops the run with its reason, and the threads with it', async () => {
    const log = join(temporaryFolder(), 'log')
    const controller = new AbortController()
    const reason = new Error('cancelled by test')
    const pending = run(10_000, { log, delayMs: 1 }, { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 200)
    await expect(pending).rejects.toBe(reason)
    const read = readFileSync(log, 'utf8').length
    expect((await run(4)).tiles).toEqual([0, 1, 2, 3])
    expect(readFileSync(log, 'utf8').length).toBe(read)
    await expect(run(4, {}, { signal: controller.signal })).rejects.toBe(reason)
  })

  test('leaving the loop stops the threads', async () => {
    for await (const batch of engine.embed({ source: fakeTiles(10_000), tileSize: SIZE })) {
      expect(batch.tiles[0]).toBe(0)
      break
    }
    expect((await run(2)).tiles).toEqual([0, 1])
  })

  test('does not run far ahead of a slow consumer', async () => {
    const log = join(temporaryFolder(), 'log')
    const patches = engine.embed({ source: fakeTiles(4000, { log }), tileSize: SIZE, level: 'patch' })
    for await (const batch of patches) {
      await new Promise((resolve) => setTimeout(resolve, 1500))
      const read = readFileSync(log, 'utf8').split('\n').length
      expect(read - batch.tiles.length).toBeLessThan(1100)
      break
    }
  })

  test('does runs that overlap one after the other', async () => {
    const [one, two] = await Promise.all([run(30), run(30)])
    expect(one).toEqual(two)
  })

  test('a run that waits for its turn can be cancelled at once', async () => {
    const controller = new AbortController()
    const first = engine.embed({ source: fakeTiles(100), tileSize: SIZE })[Symbol.asyncIterator]()
    await first.next()
    const second = run(4, {}, { signal: controller.signal })
    controller.abort(new Error('not any more'))
    await expect(second).rejects.toThrow('not any more')
    await first.return?.()
  })

  test('refuses tile sizes and levels that the model does not have, before anything is read', () => {
    const source = fakeTiles(1)
    expect(() => engine.embed({ source, tileSize: 40 })).toThrow(
      'needs a tile size of at least 32 pixels in steps of 16',
    )
  })
})

describe('the parallel engine', () => {
  test('gives neighbours that share their decoding to one thread', async () => {
    await using engine = await openEngine(vit(), { threads: 2, mode: 'parallel' })
    const log = join(temporaryFolder(), 'log')
    const result = await collect(engine, { source: fakeTiles(320, { log, delayMs: 1 }, 40) })
    expect(result.tiles).toHaveLength(320)
    const order = readFileSync(log, 'utf8').trim().split('\n').map(Number)
    // Two rows of ascending numbers are mixed; each stays within its band of 40 until that is done.
    const runs = new Map<number, number>()
    for (const tile of order) {
      const band = Math.floor(tile / 40)
      expect(tile).toBe(runs.get(band) ?? band * 40)
      runs.set(band, tile + 1)
    }
  })
})

describe('opening an engine', () => {
  test('a graph that is none is refused', async () => {
    const model = { ...vit(), graph: new Uint8Array([1, 2, 3]) }
    await expect(open(model)).rejects.toMatchObject({ code: 'MODEL_MISMATCH' })
  })

  test('inputs, outputs and sizes must be those of the manifest', async () => {
    const { input } = vit().manifest
    await expect(open(vit({ input: { ...input, name: 'image' } }))).rejects.toThrow('no input image, but pixel_values')
    await expect(open(vit({ outputs: [{ name: 'x', pooling: 'none' }] }))).rejects.toThrow(
      'no output x, but last_hidden_state, pooler_output',
    )
    const bands = ['red', 'green']
    await expect(open(vit({ input: { ...input, bands } }))).rejects.toThrow('which input.bands contradicts')
    await expect(open(vit({ patches: { output: 'y', size: 16, skip: 5 } }))).rejects.toThrow('no output y')
  })

  test('the length of the embedding is checked with the first batch', async () => {
    await using engine = await openEngine(vit({ dims: 31 }), { threads: 1 })
    await expect(collect(engine, { source: fakeTiles(1) })).rejects.toThrow(
      'output pooler_output is [1, 32] and should be [1, 31]',
    )
  })

  test('the first output that the graph has is taken; its first token is the same vector', async () => {
    const outputs: ModelManifest['outputs'] = [
      { name: 'image_embeds', pooling: 'none' },
      { name: 'last_hidden_state', pooling: 'first-token' },
    ]
    await using engine = await openEngine(vit({ outputs }), { threads: 1 })
    const { pooled } = await bare([0, 1])
    const { vectors } = await collect(engine, { source: fakeTiles(2), normalize: false })
    expect(furthest(vectors, pooled.flat())).toBeLessThan(1e-5)
  })

  test('a graph in a file with its weights beside it works as well', async () => {
    const folder = join(temporaryFolder(), 'onnx')
    mkdirSync(folder)
    const chunks: Uint8Array[] = []
    const external = { location: 'model.onnx_data', write: (bytes: Uint8Array) => chunks.push(bytes) }
    const shape = { dim: 32, depth: 2, heads: 2, patch: 16, registers: 4 }
    writeFileSync(join(folder, 'model.onnx'), buildRandomVit(shape, 7, external))
    writeFileSync(join(folder, 'model.onnx_data'), Buffer.concat(chunks))
    await using engine = await openEngine({ ...vit(), graph: join(folder, 'model.onnx') }, { threads: 1 })
    const { pooled } = await bare([0])
    const { vectors } = await collect(engine, { source: fakeTiles(1), normalize: false })
    expect(furthest(vectors, pooled.flat())).toBeLessThan(1e-5)
  })

  test('the built-in model needs nothing else', async () => {
    const model = await openModelStore({ directory: temporaryFolder() }).acquire(BUILT_IN_MODEL)
    await using engine = await openEngine(model, { threads: 1 })
    const { vectors } = await collect(engine, { source: fakeTiles(3) })
    expect(vectors.length).toBe(3 * 64)
    expect(Math.hypot(...vectors.slice(0, 64))).toBeCloseTo(1, 6)
    expect(() => engine.embed({ source: fakeTiles(1), tileSize: SIZE, level: 'patch' })).toThrow('has no patches')
  })

  test('a closed engine refuses runs', async () => {
    const engine = await openEngine(vit(), { threads: 1 })
    await engine.close()
    await expect(collect(engine, { source: fakeTiles(1) })).rejects.toThrow('closed')
  })
})
