import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { expect, test } from 'vitest'

import { parseManifest } from '../src/models/manifest.ts'
import { temporaryFolder } from './fixtures/models.ts'

const packageFolder = join(import.meta.dirname, '..')
const readme = readFileSync(join(packageFolder, 'README.md'), 'utf8')

function block(language: string, index: number): string {
  const found = [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))][index]?.[1]
  if (found === undefined) throw new Error(`the README has no block ${index} of ${language}`)
  return found
}

/** Runs a program in a folder of its own that has the packages installed. */
async function run(code: string, ...args: readonly string[]): Promise<number[][]> {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'node_modules/@terrane'), { recursive: true })
  symlinkSync(packageFolder, join(folder, 'node_modules/@terrane/embeddings'))
  symlinkSync(
    realpathSync(join(packageFolder, 'node_modules/@terrane/tiling')),
    join(folder, 'node_modules/@terrane/tiling'),
  )
  writeFileSync(join(folder, 'example.mts'), code)
  const { stdout } = await promisify(execFile)(process.execPath, ['example.mts', ...args], { cwd: folder })
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
}

test('the first example of the README embeds the tiles of a scene', async () => {
  const path = join(temporaryFolder(), 'scene.tif')
  const image = textureImage({ width: 512, height: 300, bands: 3, seed: 1, type: 'uint8', noise: 5 })
  const georeference = { affine: [500_000, 10, 0, 5_000_000, 0, -10], epsg: 32632 } as const
  writeFileSync(path, await writeGeoTiff(image, { type: 'uint8', color: 'rgb', georeference }))
  const lines = await run(block('ts', 0), path)
  expect(lines.reduce((sum, [tiles = 0]) => sum + tiles, 0)).toBe(4)
  expect(lines.reduce((sum, [, numbers = 0]) => sum + numbers, 0)).toBe(4 * 64)
})

test('the second example counts features in cells', async () => {
  const [[cells, dims] = []] = await run(block('ts', 1))
  expect(cells).toBeGreaterThan(10)
  expect(dims).toBe(725)
})

test('the manifest of the README is one', () => {
  const text = block('json', 0).replace('34cd…', 'ab'.repeat(32))
  expect(parseManifest(JSON.parse(text), 'README').id).toBe('my-model')
})
