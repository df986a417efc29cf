import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MODEL_SHAPES, encodeShape, manifestOf } from '../../test/fixtures/model-shapes.ts'
import { sha256, temporaryFolder } from '../../test/fixtures/models.ts'
import { OnnxGraph, buildColorClip } from '../onnx/index.ts'
import { checkModelFile } from './check-file.ts'
import { parseManifest } from './manifest.ts'

function fileOf(name: string): string {
  const folder = temporaryFolder()
  const chunks: Uint8Array[] = []
  const external = { location: 'weights.data', write: (bytes: Uint8Array) => chunks.push(bytes) }
  writeFileSync(join(folder, 'My Model.onnx'), encodeShape(name, name.includes('beside') ? external : null))
  if (chunks.length > 0) writeFileSync(join(folder, 'weights.data'), Buffer.concat(chunks))
  return join(folder, 'My Model.onnx')
}

test.for(Object.keys(MODEL_SHAPES))('%s: the draft is a manifest, and one tile runs by it', async (name) => {
  const path = fileOf(name)
  const { manifest, embedding, notes } = await checkModelFile(path)
  expect(parseManifest(manifest, name)).toBe(manifest)
  const { input, extra_inputs: extra } = manifestOf(name)
  expect(manifest).toMatchObject({
    id: 'my-model',
    input: { ...input, batch: name.startsWith('four') ? 4 : 1 },
    dims: 8,
  })
  expect(manifest.extra_inputs).toEqual(extra)
  expect(embedding).toHaveLength(8)
  expect(notes.join()).toContain('licence')
  expect(manifest.files[0]).toMatchObject({ sha256: sha256(readFileSync(path)) })
  expect(manifest.files.slice(1).map((file) => file.path)).toEqual(name.includes('beside') ? ['weights.data'] : [])
})

test('one fixed side of two is that of square tiles, and few numbers are said to be scores', async () => {
  const graph = new OnnxGraph('strip')
  const pixels = graph.input('pixels', ['batch', 3, 48, 'width'])
  graph.output('map', ['batch', 3, 48, 'width'], pixels)
  const path = join(temporaryFolder(), 'strip.onnx')
  writeFileSync(path, graph.encode())
  const { manifest, notes } = await checkModelFile(path)
  expect(manifest).toMatchObject({ input: { size: { width: 48, height: 48 } }, dims: 3, tile: { default: 48 } })
  expect(notes.join('\n')).toMatch(/one side of pixels is 48.*3 numbers of map are scores/s)
})

/** A file of a graph whose outputs are made of the mean of each channel. */
function graphFile(build: (graph: OnnxGraph, means: string) => void, channels = 3): string {
  const graph = new OnnxGraph('drafted')
  const pixels = graph.input('pixels', ['batch', channels, 'height', 'width'])
  const means = graph.op('Reshape', [graph.op('GlobalAveragePool', [pixels]), graph.ints([-1, channels])])
  build(graph, means)
  const path = join(temporaryFolder(), 'drafted.onnx')
  writeFileSync(path, graph.encode())
  return path
}

test('scores, texts and whole numbers are no embedding where another output is', async () => {
  const path = graphFile((graph, means) => {
    graph.output('class_logits', ['batch', 3], means)
    graph.output('text_embeds', ['batch', 3], means)
    graph.output('counts', ['batch', 3], graph.cast(means, 'int64'), 'int64')
    graph.output('features', ['batch', 3], means)
  })
  expect((await checkModelFile(path)).manifest.outputs).toEqual([{ name: 'features', pooling: 'none' }])
  const counts = graphFile((graph, means) => graph.output('counts', ['batch', 3], graph.cast(means, 'int64'), 'int64'))
  await expect(checkModelFile(counts)).rejects.toThrow(
    'none of its outputs is a tensor of floating point numbers: counts int64',
  )
})

test('coordinates in time are no place', async () => {
  const path = graphFile((graph, means) => {
    const time = graph.op('Reshape', [graph.input('temporal_coords', ['batch', 1, 2]), graph.ints([-1, 2])])
    const place = graph.input('location_coords', ['batch', 2])
    graph.output('embedding', ['batch', 7], graph.op('Concat', [means, time, place], { axis: 1 }))
  })
  expect((await checkModelFile(path)).manifest.extra_inputs).toEqual([
    { name: 'temporal_coords', is: 'year-day' },
    { name: 'location_coords', is: 'latitude-longitude' },
  ])
})

test('an input of another width is no time or place, whatever its name', async () => {
  const path = graphFile((graph, means) => {
    const day = graph.input('time', ['batch', 1])
    graph.output('embedding', ['batch', 4], graph.op('Concat', [means, day], { axis: 1 }))
  })
  const { manifest, notes } = await checkModelFile(path)
  expect(manifest.extra_inputs).toEqual([{ name: 'time', is: 'constant', values: [0] }])
  expect(notes.join()).toContain('time [batch, 1] is filled with zeros: say what it is')
})

test('the patches of a manifest are tried, too', async () => {
  const name = Object.keys(MODEL_SHAPES).find((one) => one.startsWith('spatial'))!
  const path = fileOf(name)
  const { patches, ...rest } = manifestOf(name)
  const { manifest } = await checkModelFile(path)
  const given = { ...manifest, ...rest, files: manifest.files, patches }
  await expect(checkModelFile(path, given)).resolves.toMatchObject({ manifest: { patches_per_tile: 4 } })
  await expect(checkModelFile(path, { ...given, patches: { ...patches!, layout: 'map' } })).rejects.toMatchObject({
    code: 'MODEL_MISMATCH',
    hint: expect.stringContaining('patches') as string,
  })
})

test('a graph beyond the limits of a manifest is refused before it is drafted', async () => {
  const path = graphFile((graph, means) => graph.output('embedding', ['batch', 65], means), 65)
  await expect(checkModelFile(path)).rejects.toMatchObject({
    code: 'MODEL_MISMATCH',
    message: expect.stringContaining('/input/bands must be a list of 1 to 64 entries') as string,
  })
})

test('a graph of unknown operators tells what the file must be', async () => {
  const path = graphFile((graph, means) => graph.output('embedding', ['batch', 3], graph.op('Ours', [means])))
  await expect(checkModelFile(path)).rejects.toMatchObject({
    code: 'MODEL_MISMATCH',
    hint: expect.stringMatching(/operators that ONNX Runtime \d/) as string,
  })
})

test('nothing else beside the file belongs to it, though its name stands in the graph', async () => {
  const path = fileOf(Object.keys(MODEL_SHAPES)[0]!)
  mkdirSync(join(path, '..', 'pixels'))
  writeFileSync(join(path, '..', 'o'), 'a name of one letter stands in any graph')
  expect((await checkModelFile(path)).manifest.files).toHaveLength(1)
})

test('a file that is none, and a graph without an image, say so', async () => {
  const folder = temporaryFolder()
  await expect(checkModelFile(join(folder, 'none.onnx'))).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
  writeFileSync(join(folder, 'text.onnx'), 'not a graph')
  await expect(checkModelFile(join(folder, 'text.onnx'))).rejects.toMatchObject({ code: 'MODEL_MISMATCH' })
  const graph = new OnnxGraph('words')
  graph.output('out', ['batch', 4], graph.input('words', ['batch', 4]))
  writeFileSync(join(folder, 'words.onnx'), graph.encode())
  const bytes = new OnnxGraph('numbers')
  const cast = bytes.cast(bytes.input('pixels', ['batch', 3, 8, 8], 'int64'), 'float32')
  bytes.output('map', ['batch', 3, 8, 8], cast)
  writeFileSync(join(folder, 'numbers.onnx'), bytes.encode())
  await expect(checkModelFile(join(folder, 'numbers.onnx'))).rejects.toThrow(
    'with one date, in float32, float16, uint8 or int8: pixels int64 [batch, 3, 8, 8]',
  )
  await expect(checkModelFile(join(folder, 'words.onnx'))).rejects.toThrow(
    'none of its inputs is an image of four axes',
  )
})

/** A file of a graph whose image has five axes. */
function datedFile(axes: readonly (string | number)[], time: 1 | 2): string {
  const graph = new OnnxGraph('dated')
  const dated = graph.input('pixels', axes)
  const pixels = graph.op('ReduceMean', [dated], { axes: [time], keepdims: 0 })
  const means = graph.op('Reshape', [graph.op('GlobalAveragePool', [pixels]), graph.ints([1, -1])])
  graph.output('embedding', ['batch', 'dims'], means)
  const path = join(temporaryFolder(), 'dated.onnx')
  writeFileSync(path, graph.encode())
  return path
}

test.each([
  [['batch', 6, 1, 32, 32], 2, { layout: 'ncthw', size: { width: 32, height: 32 } }],
  [['batch', 6, 'time', 'height', 'width'], 2, { layout: 'ncthw', size: null }],
  [['batch', 1, 6, 32, 32], 1, { layout: 'ntchw' }],
  [['batch', 'time', 6, 32, 32], 1, { layout: 'ntchw' }],
] as const)('an image %j has a time axis, of one date', async (axes, time, input) => {
  const { manifest, notes } = await checkModelFile(datedFile(axes, time))
  expect(manifest.input).toMatchObject(input)
  expect(manifest.input.bands).toHaveLength(6)
  expect(notes.join()).toContain('pixels has a time axis')
})

test('an image of several dates is refused', async () => {
  await expect(checkModelFile(datedFile(['batch', 6, 3, 32, 32], 2))).rejects.toThrow(
    'pixels [batch, 6, 3, 32, 32] takes several dates at once',
  )
})

test('the text part of a manifest is tried, and its files are pinned', async () => {
  const folder = temporaryFolder()
  const { image, text, tokenizer } = buildColorClip()
  const files = { 'clip.onnx': image, 'text.onnx': text, 'tokenizer.json': JSON.stringify(tokenizer) }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const path = join(folder, 'clip.onnx')
  const { manifest } = await checkModelFile(path)
  const file = (name: string) => ({ path: name, url: null, size: null, sha256: null })
  const part = {
    files: [file('text.onnx'), file('tokenizer.json')],
    tokenizer: 'tokenizer.json',
    ids: 'input_ids',
    mask: 'attention_mask',
    output: 'text_embeds',
    length: 8,
  }
  const checked = await checkModelFile(path, { ...manifest, text: part })
  expect(checked.manifest.text?.files.map((one) => one.sha256)).toEqual([
    sha256(text),
    sha256(readFileSync(join(folder, 'tokenizer.json'))),
  ])
  await expect(checkModelFile(path, { ...manifest, text: { ...part, output: 'pooled' } })).rejects.toMatchObject({
    message: expect.stringContaining('its text graph has no output pooled') as string,
    hint: expect.stringContaining('Correct text in the manifest') as string,
  })
  writeFileSync(join(folder, 'tokenizer.json'), '{}')
  await expect(checkModelFile(path, checked.manifest)).rejects.toMatchObject({ code: 'MODEL_TAMPERED' })
})
