import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MODEL_SHAPES, encodeShape, manifestOf } from '../../test/fixtures/model-shapes.ts'
import { sha256, temporaryFolder } from '../../test/fixtures/models.ts'
import { OnnxGraph } from '../onnx/index.ts'
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
  expect(manifest).toMatchObject({ id: 'my-model', input: { ...input, batch: 1 }, dims: 8 })
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
  await expect(checkModelFile(join(folder, 'words.onnx'))).rejects.toThrow(
    'none of its inputs is an image of four axes',
  )
})
