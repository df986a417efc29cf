import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { InferenceSession } from 'onnxruntime-node'
import { describe, expect, test } from 'vitest'
import { CONTEXT, MODEL_SHAPES, SIDE, encodeShape, manifestOf } from '../../test/fixtures/model-shapes.ts'
import { pinnedFile, temporaryFolder } from '../../test/fixtures/models.ts'
import { fakeTiles, fillTile } from '../../test/fixtures/tile-readers.ts'
import { type ModelManifest, parseManifest } from '../models/manifest.ts'
import type { Model } from '../models/acquire-files.ts'
import { openEngine, type EmbedRequest } from './engine.ts'

/** The model as files in a folder, with external weights where the shape requires them. */
function modelOf(name: string, change: Partial<ModelManifest> = {}): Model {
  const chunks: Uint8Array[] = []
  const location = 'model.onnx.data'
  const external = { location, write: (bytes: Uint8Array) => chunks.push(bytes) }
  const graph = encodeShape(name, name.includes('beside') ? external : null)
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'model.onnx'), graph)
  if (chunks.length > 0) writeFileSync(join(folder, location), Buffer.concat(chunks))
  const manifest = parseManifest(
    { ...manifestOf(name), files: [pinnedFile('model.onnx', graph, null)], ...change },
    name,
  )
  return { manifest, graph: join(folder, 'model.onnx'), sha256: 'x', bytes: graph.length }
}

async function embed(model: Model, more: Partial<EmbedRequest> = {}): Promise<number[]> {
  await using engine = await openEngine(model, { threads: 1 })
  const request = { source: fakeTiles(2), tileSize: SIDE, normalize: false, context: CONTEXT, ...more }
  const vectors: number[] = []
  for await (const batch of engine.embed(request)) vectors.push(...batch.embeddings)
  return vectors
}

/** Results of the runtime alone, one tile after the other. */
async function bare(name: string, model: Model): Promise<number[][]> {
  const { feeds, output } = MODEL_SHAPES[name]!
  const session = await InferenceSession.create(model.graph as string, { logSeverityLevel: 3 })
  const results: number[][] = []
  for (const tile of [0, 1]) {
    const pixels = new Float32Array(3 * SIDE * SIDE)
    fillTile(tile, pixels)
    const { data, type } = (await session.run(feeds(pixels, tile)))[output]!
    const halves = type === 'float16' && data instanceof Uint16Array ? new Float16Array(data.buffer) : data
    results.push(Array.from(halves as Float32Array, Number))
  }
  return results
}

function expectNear(actual: readonly number[], expected: readonly number[]): void {
  expect(actual.length).toBe(expected.length)
  for (const [i, value] of actual.entries()) expect(Math.abs(value - expected[i]!)).toBeLessThan(1e-4)
}

describe('a model as it was exported', () => {
  test.for(Object.keys(MODEL_SHAPES))('%s: gives what the bare runtime gives', async (name) => {
    const model = modelOf(name)
    const expected = (await bare(name, model)).flatMap((output) => MODEL_SHAPES[name]!.vectors(output))
    expect(Math.hypot(...expected)).toBeGreaterThan(0.01)
    expectNear(await embed(model), expected)
  })

  test('patches of both maps are the same, row by row', async () => {
    const [last, first] = Object.keys(MODEL_SHAPES).filter((name) => name.startsWith('spatial'))
    const model = modelOf(last!)
    const expected = (await bare(last!, model)).flat()
    expectNear(await embed(model, { level: 'patch' }), expected)
    expectNear(await embed(modelOf(first!), { level: 'patch' }), expected)
  })
})

test('any number of tiles gives the same vectors as full batches of a fixed size', async () => {
  const name = 'four tiles at a time, each beside the mean of all'
  const model = modelOf(name)
  const seven = await embed(model, { source: fakeTiles(7) })
  expect(seven).toHaveLength(7 * 8)
  expect(await embed(model, { source: fakeTiles(7, { validFractions: [1, 1, 1, 1, 0, 1, 1] }) })).toHaveLength(6 * 8)
  expectNear(seven.slice(0, 4 * 8), await embed(model, { source: fakeTiles(4) }))
})

test('runs of as many tiles as fit, the last ones too', async () => {
  const model = modelOf('one tile at a time, though the batch looks free')
  const seven = await embed(model, { source: fakeTiles(7) })
  const last = await embed(model, { source: fakeTiles(7), from: 6 })
  expect(seven).toHaveLength(7 * 8)
  expectNear(seven.slice(6 * 8), last)
})

describe('a manifest that does not fit', () => {
  const times = 'time, place, pixel size and wavelengths'

  test('names the layout that would fit', async () => {
    const { input } = manifestOf('bytes, channels last')
    const model = modelOf('bytes, channels last', { input: { ...input, layout: 'nchw' } })
    await expect(embed(model)).rejects.toThrow('which input.layout "nhwc" would fit')
  })

  test('names the type of the tensor', async () => {
    const { input } = manifestOf('half floats in and out')
    const model = modelOf('half floats in and out', { input: { ...input, type: 'float32' } })
    await expect(embed(model)).rejects.toThrow(/pixels is float16 .* input\.type float32/)
  })

  test('names the inputs that nothing fills', async () => {
    await expect(embed(modelOf(times, { extra_inputs: [] }))).rejects.toThrow(
      'it also needs time, latlon, waves, timestamps, gsd, which extra_inputs does not fill',
    )
  })

  test.for([
    ['datetime', 'time'],
    ['gsd', 'gsd'],
    ['wavelengths', 'waves'],
    ['places', 'latlon'],
  ] as const)('tells that %s is missing', async ([what, input]) => {
    const embedding = embed(modelOf(times), { context: { ...CONTEXT, [what]: null } })
    await expect(embedding).rejects.toMatchObject({
      code: 'MODEL_INPUT_MISSING',
      message: expect.stringContaining(`needs ${what} for its input ${input}`) as string,
    })
  })

  test.for([
    [{ input: { ...manifestOf(times).input, type: 'uint8', std: [2, 1, 1] } }, '/input/type'],
    [{ extra_inputs: [{ name: 'x', is: 'constant' }] }, '/extra_inputs/0/values'],
    [{ dims: 7, outputs: [{ name: 'x', pooling: 'first-and-mean' }] }, '/dims'],
  ] as const)('is refused before it is used: %j', ([change, path]) => {
    const manifest = { ...manifestOf(times), files: [pinnedFile('model.onnx', new Uint8Array(1), null)], ...change }
    expect(() => parseManifest(manifest, 'x')).toThrow(
      expect.objectContaining({ errors: [{ path, message: expect.any(String) }] }),
    )
  })
})
