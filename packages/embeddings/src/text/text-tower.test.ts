import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openModelStore } from '../models/store.ts'
import { OnnxGraph, buildColorClip } from '../onnx/index.ts'
import { openTextTower } from './text-tower.ts'
import { createTokenizer } from './tokens.ts'

const clip = buildColorClip()
const file = (path: string) => ({ path, url: null, size: null, sha256: null })
const TEXT = {
  files: [file('text.onnx'), file('tokenizer.json')],
  tokenizer: 'tokenizer.json',
  ids: 'input_ids',
  mask: 'attention_mask',
  output: 'text_embeds',
  length: 8,
  pad: 1,
}
const MANIFEST = {
  id: 'clip',
  title: 'Clip',
  description: 'Knows three colours.',
  kind: 'neural',
  pretrained: false,
  licence: { name: 'MIT', url: null, notice: null },
  revision: 'r1',
  files: [file('image.onnx')],
  input: {
    name: 'pixel_values',
    size: null,
    bands: ['red', 'green', 'blue'],
    mean: [0, 0, 0],
    std: [1, 1, 1],
    batch: 1,
  },
  outputs: [{ name: 'image_embeds', pooling: 'none' }],
  dims: 3,
  tile: { min: 16, multiple: 16, default: 64 },
  patches: null,
  patches_per_tile: 1,
}
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-text-'))
  await mkdir(join(folder, 'clip', 'r1'), { recursive: true })
  const files = { 'text.onnx': clip.text, 'image.onnx': clip.image, 'tokenizer.json': JSON.stringify(clip.tokenizer) }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, 'clip', 'r1', name), content)
})
afterEach(() => rm(folder, { recursive: true }))

async function open(text: object | undefined, manifest: object = {}) {
  await writeFile(join(folder, 'clip.json'), JSON.stringify({ ...MANIFEST, ...manifest, ...(text && { text }) }))
  return openTextTower(await openModelStore({ directory: folder, allowUnpinned: true }).acquireText('clip'))
}

describe('a text', () => {
  test('becomes a vector of unit length among those of tiles', async () => {
    await using tower = await open(TEXT)
    expect(Array.from(await tower.embed('red'))).toEqual([1, 0, 0].map((x) => expect.closeTo(x, 2)))
    const mixed = await tower.embed('Green  BLUE green')
    expect(Math.hypot(...mixed)).toBeCloseTo(1, 6)
    expect(Array.from(mixed)).toEqual([0, 2, 1].map((x) => expect.closeTo(x / Math.sqrt(5), 2)))
  })

  test('is embedded alike with and without padding, and beside others', async () => {
    await using padded = await open(TEXT)
    await using plain = await open({ ...TEXT, pad: undefined })
    const texts = ['red', 'green red', 'blue']
    const alone = await plain.embed('green red')
    const together = await Promise.all(texts.map((text) => padded.embed(text)))
    expect(together[1]).toEqual(alone)
    expect(together[2]).not.toEqual(alone)
  })

  test('of a graph of tokens is their mean without padding, or its first token', async () => {
    const graph = new OnnxGraph('tokens')
    const ids = graph.input('input_ids', ['batch', 'tokens'], 'int64')
    const types = graph.input('token_type_ids', ['batch', 'tokens'], 'int64')
    const kinds = graph.op('Add', [ids, graph.op('Mul', [types, graph.ints([1000])])])
    // One number for each token: its id, and 1.
    const id = graph.op('Unsqueeze', [graph.cast(kinds, 'float32'), graph.ints([2])])
    const one = graph.op('Add', [graph.op('Mul', [id, graph.floats([1], [0])]), graph.floats([1], [1])])
    graph.output('hidden', ['batch', 'tokens', 2], graph.op('Concat', [id, one], { axis: 2 }))
    await writeFile(join(folder, 'clip', 'r1', 'text.onnx'), graph.encode())
    const { mask: _, ...text } = { ...TEXT, types: 'token_type_ids', output: 'hidden' }
    const embed = async (pooling: string) => {
      await using tower = await open({ ...text, pooling }, { dims: 2 })
      return Array.from(await tower.embed('red'))
    }
    const { ids: real } = createTokenizer(clip.tokenizer, { ...text, pad: undefined })('red')
    expect(real.length).toBeLessThan(TEXT.length)
    const mean = real.reduce((sum, value) => sum + value, 0) / real.length
    const unit = (...v: number[]) => v.map((x) => expect.closeTo(x / Math.hypot(...v), 5))
    expect(await embed('mean-tokens')).toEqual(unit(mean, 1))
    expect(await embed('first-token')).toEqual(unit(real[0]!, 1))
    await expect(open(text, { dims: 2 }).then((tower) => tower.embed('red'))).rejects.toMatchObject({
      code: 'MODEL_MISMATCH',
    })
  })

  test('of too many tokens is refused, and the next one is answered', async () => {
    await using tower = await open(TEXT)
    await expect(tower.embed('red '.repeat(7))).rejects.toMatchObject({
      code: 'TEXT_TOO_LONG',
      message: 'The text has 9 tokens; the limit of the model is 8',
    })
    await expect(tower.embed('red '.repeat(6))).resolves.toHaveLength(3)
  })
})

describe('a model', () => {
  test.each([
    [{ ...TEXT, ids: 'tokens' }, 'its text graph has no input tokens, but input_ids, attention_mask'],
    [{ ...TEXT, mask: undefined }, 'its text graph also needs attention_mask, which nothing fills'],
    [{ ...TEXT, output: 'pooled' }, 'its text graph has no output pooled, but text_embeds'],
    [{ ...TEXT, files: [file('tokenizer.json')] }, 'the runtime cannot open its text graph'],
    [{ ...TEXT, files: [file('text.onnx')], tokenizer: 'text.onnx' }, 'its tokenizer cannot be used'],
  ])('that is not what its manifest says is refused', async (text, problem) => {
    await expect(open(text)).rejects.toMatchObject({
      code: 'MODEL_MISMATCH',
      message: expect.stringContaining(problem),
    })
  })

  test('whose text graph has other dimensions is refused by the first text', async () => {
    await using tower = await open(TEXT, { dims: 4 })
    await expect(tower.embed('red')).rejects.toMatchObject({
      code: 'MODEL_MISMATCH',
      message: expect.stringContaining('text output text_embeds is [1, 3] and should be [1, 4]'),
    })
  })

  test('without a text part says so', async () => {
    await expect(open(undefined)).rejects.toMatchObject({ code: 'TEXT_UNSUPPORTED' })
  })

  test('names its tokenizer among the files of its text part', async () => {
    await expect(open({ ...TEXT, tokenizer: 'other.json' })).rejects.toMatchObject({
      code: 'MODEL_MANIFEST_INVALID',
      errors: [{ path: '/text/tokenizer', message: 'must be the path of one of text.files' }],
    })
  })
})

test('words are cut into the tokens that the merges make, between the marks of start and end', () => {
  const { model } = clip.tokenizer as { model: { vocab: Record<string, number> } }
  const { vocab } = model
  const tokenize = createTokenizer(clip.tokenizer, { ...TEXT, length: 12, pad: 1 })
  const { ids, mask } = tokenize('greet red')
  const words = ['<|startoftext|>', 'gre', 'e', 't</w>', 'red</w>', '<|endoftext|>'].map((token) => vocab[token])
  expect(ids).toEqual([...words, 1, 1, 1, 1, 1, 1])
  expect(mask).toEqual([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
})
