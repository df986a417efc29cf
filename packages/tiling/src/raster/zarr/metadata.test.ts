import { expect, test } from 'vitest'
import { readNode, type Fields } from './metadata.ts'

const ARRAY = {
  zarr_format: 3,
  node_type: 'array',
  shape: [4, 4],
  data_type: 'int8',
  chunk_grid: { name: 'regular', configuration: { chunk_shape: [2, 2] } },
  chunk_key_encoding: { name: 'default' },
  codecs: [{ name: 'bytes' }],
  fill_value: 0,
  dimension_names: ['y', 'x'],
}
const read = (more: Fields) =>
  readNode({ json: (key) => Promise.resolve(key === 'zarr.json' ? { ...ARRAY, ...more } : null) }, '')

test('metadata of version 3 with what a reader has to understand are refused', async () => {
  const unusable = (name: string) => ({
    code: 'ZARR_UNUSABLE',
    message: expect.stringContaining(`"${name}"`) as string,
  })
  await expect(read({ storage_transformers: [{ name: 'indexed' }] })).rejects.toMatchObject(
    unusable('storage_transformers'),
  )
  await expect(read({ offsets: { by: 2 } })).rejects.toMatchObject(unusable('offsets'))
})

test('metadata of version 3 with members that need not be understood are read', async () => {
  for (const more of [
    {},
    { storage_transformers: [] },
    { note: { must_understand: false } },
    { attributes: { a: 1 } },
  ]) {
    await expect(read(more)).resolves.toMatchObject({ kind: 'array', array: { shape: [4, 4] } })
  }
})
