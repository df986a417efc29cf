import type { InferenceSession } from 'onnxruntime-node'
import { expect, test } from 'vitest'
import { CONTEXT, manifestOf } from '../../test/fixtures/model-shapes.ts'
import type { ExtraInput } from '../models/manifest.ts'
import { extraTensors } from './extra-inputs.ts'

type Metadata = Extract<InferenceSession.ValueMetadata, { isTensor: true }>
const name = 'quantized within (QDQ)'

/** The tensor of an input beside the pixels, for two tiles. */
function fill(is: ExtraInput, shape: Metadata['shape'], type: Metadata['type'] = 'float32') {
  const manifest = { ...manifestOf(name), files: [], extra_inputs: [is] }
  const metadata: Metadata[] = [
    { name: 'pixels', isTensor: true, type: 'float32', shape: ['batch', 3, 'height', 'width'] },
    { name: is.name, isTensor: true, type, shape },
  ]
  const { dims, data } = extraTensors(manifest, metadata, CONTEXT, [0, 1])[is.name]!
  return { dims, data: Array.from(data as Iterable<number>) }
}

test('what all tiles share is given for each where the graph has the axis of the batch', () => {
  expect(fill({ name: 'gsd', is: 'gsd' }, ['batch', 1])).toEqual({ dims: [2, 1], data: [10, 10] })
  expect(fill({ name: 'gsd', is: 'gsd' }, ['size'])).toEqual({ dims: [1], data: [10] })
  expect(fill({ name: 'waves', is: 'wavelengths' }, ['batch', 'channels']).dims).toEqual([2, 3])
  const mask = fill({ name: 'mask', is: 'constant', values: [1] }, ['batch', 2], 'bool')
  expect(mask).toEqual({ dims: [2, 2], data: [1, 1, 1, 1] })
})

test('room for one tile alone is named with the batch that fits', () => {
  expect(() => fill({ name: 'place', is: 'latitude-longitude' }, [1, 2])).toThrow('input.batch 1 would fit')
  expect(() => fill({ name: 'place', is: 'latitude-longitude' }, ['batch', 3])).toThrow('which 2 numbers do not fill')
  expect(() => fill({ name: 'gsd', is: 'gsd' }, ['batch', 4])).toThrow('which 1 numbers do not fill')
})

test('a type that no numbers are fed as is named', () => {
  expect(() => fill({ name: 'place', is: 'latitude-longitude' }, ['batch', 2], 'string')).toThrow(
    'input place is string, and numbers are fed as float32',
  )
})
