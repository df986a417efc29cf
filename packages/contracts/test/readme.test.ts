import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRequest } from './example.ts'

test('the example of the README is the one that runs here', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  expect(readRequest({ geotiffPath: '/data/scene.tif', tableName: 'scene' })).toMatchObject({
    tileSize: 256,
    normalizeEmbeddings: true,
    modelName: 'dinov3-vitl16-pretrain-sat493m',
  })
  expect(readRequest({ geotiffPath: '/data/scene.tif', tableName: 'Scene 1', zoom: 3 })).toEqual(
    expect.arrayContaining([expect.stringMatching(/^\/tableName must match/)]),
  )
})
