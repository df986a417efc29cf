import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { seededRandom } from '@terrane/core'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { expect, onTestFinished, test } from 'vitest'

import { buildRandomVit } from './random-vit.ts'

const TINY = { dim: 32, depth: 2, heads: 2, patch: 16, registers: 4 }

function pixels(batch: number, size: number): Tensor {
  const random = seededRandom(3)
  const values = Float32Array.from({ length: batch * 3 * size * size }, () => random() * 4 - 2)
  return new Tensor('float32', values, [batch, 3, size, size])
}

test('the random transformer has the inputs and outputs of a DINOv3 export, for any batch and size', async () => {
  const session = await InferenceSession.create(buildRandomVit(TINY, 7), { logSeverityLevel: 3 })
  const output = await session.run({ pixel_values: pixels(3, 64) })
  expect(output['last_hidden_state']?.dims).toEqual([3, 1 + 4 + 16, 32])
  expect(output['pooler_output']?.dims).toEqual([3, 32])
  const hidden = output['last_hidden_state']!.data
  expect([...output['pooler_output']!.data].slice(32, 64)).toEqual([...hidden].slice(21 * 32, 22 * 32))
})

test('the same seed gives the same bytes, another seed others', () => {
  const one = buildRandomVit(TINY, 7)
  expect(Buffer.compare(one, buildRandomVit(TINY, 7))).toBe(0)
  expect(Buffer.compare(one, buildRandomVit(TINY, 8))).not.toBe(0)
})

test('weights in a file beside the graph give the same numbers as weights inside it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-vit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const chunks: Uint8Array[] = []
  const graph = buildRandomVit(TINY, 7, { location: 'model.onnx_data', write: (bytes) => chunks.push(bytes) })
  writeFileSync(join(folder, 'model.onnx'), graph)
  writeFileSync(join(folder, 'model.onnx_data'), Buffer.concat(chunks))
  expect(graph.length).toBeLessThan(20_000)
  const outside = await InferenceSession.create(join(folder, 'model.onnx'), { logSeverityLevel: 3 })
  const inside = await InferenceSession.create(buildRandomVit(TINY, 7), { logSeverityLevel: 3 })
  const input = { pixel_values: pixels(1, 64) }
  expect((await outside.run(input))['pooler_output']?.data).toEqual((await inside.run(input))['pooler_output']?.data)
})

test('products of bytes stay near those of floats', async () => {
  const vectors: Float32Array[] = []
  for (const numbers of ['float32', 'int8'] as const) {
    const session = await InferenceSession.create(buildRandomVit(TINY, 7, null, numbers), { logSeverityLevel: 3 })
    const output = await session.run({ pixel_values: pixels(1, 64) })
    vectors.push(output['pooler_output']!.data as Float32Array)
  }
  const [floats, bytes] = vectors
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * b[i]!, 0)
  expect(bytes).not.toEqual(floats)
  expect(dot(floats!, bytes!) / Math.sqrt(dot(floats!, floats!) * dot(bytes!, bytes!))).toBeGreaterThan(0.999)
})
