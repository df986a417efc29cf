import { TerraneError } from '@terrane/core'
import { describe, expect, test } from 'vitest'

import { pinnedFile, tinyVitManifest } from '../../test/fixtures/models.ts'
import { BUILT_IN_MANIFESTS, BUILT_IN_MODEL, DEFAULT_MODEL } from './built-in-manifests.ts'
import { type ModelManifest, checkTileSize, embeddingsPerTile, isPinned, parseManifest, patchGrid } from './manifest.ts'

const valid = tinyVitManifest([pinnedFile('model.onnx', new Uint8Array(3), null)])

function filesAt(path: string): ModelManifest['files'] {
  return [{ path, url: null, size: null, sha256: null }]
}

function problemsOf(change: Record<string, unknown>): readonly string[] {
  try {
    parseManifest({ ...valid, ...change }, 'tiny-vit.json')
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'MODEL_MANIFEST_INVALID') {
      return error.errors.map(({ path, message }) => `${path} ${message}`)
    }
    throw error
  }
  return []
}

const byId = (id: string): ModelManifest => BUILT_IN_MANIFESTS.find((manifest) => manifest.id === id)!

describe('a manifest', () => {
  test('that is right is returned as it is', () => {
    expect(parseManifest(valid, 'x')).toEqual(valid)
  })

  test('that is not even an object is refused', () => {
    expect(() => parseManifest([], 'x.json')).toThrow('manifest x.json is not usable: it must be an object')
  })

  test('is closed: unknown and missing fields are named', () => {
    const { dims, ...rest } = valid
    expect(problemsOf({ ...rest, pooling: 'cls' })).toEqual(['/pooling is not a field of this object'])
    expect(() => parseManifest(rest, 'x')).toThrow('/dims is missing')
    expect(dims).toBe(32)
  })

  test('names every wrong field at once, with what is wanted', () => {
    expect(problemsOf({ id: 'Upper Case', dims: 0, kind: 'magic', pretrained: 'yes' })).toEqual([
      '/id must be lower-case letters, digits, ".", "_" and "-", at most 100',
      '/kind must be one of neural, handcrafted',
      '/pretrained must be true or false',
      '/dims must be a whole number from 1 to 16000',
    ])
  })

  test('may not reach out of its folder', () => {
    for (const path of ['../model.onnx', '/etc/model.onnx', 'a/../../b', '']) {
      expect(problemsOf({ files: filesAt(path) })).toEqual(['/files/0/path must be a relative path without ".."'])
    }
    expect(problemsOf({ files: filesAt('onnx/model.onnx') })).toEqual([])
    expect(problemsOf({ revision: '../x' })).toHaveLength(1)
  })

  test('must agree with itself', () => {
    expect(problemsOf({ input: { ...valid.input, mean: [0] } })).toEqual([
      '/input/mean must have 3 entries, as bands has',
    ])
    expect(problemsOf({ patches_per_tile: 1 })).toEqual(['/patches_per_tile must be 16 for tiles of 64 pixels'])
    expect(problemsOf({ tile: { min: 32, multiple: 16, default: 40 } })).toContain(
      '/tile/default must be a multiple of 16, at least 32',
    )
    expect(problemsOf({ tile: { min: 30, multiple: 10, default: 60 }, patches_per_tile: 9 })).toEqual([
      '/tile/multiple must be a multiple of the patch size 16',
    ])
  })

  test('tells how many embeddings a tile gives', () => {
    expect(embeddingsPerTile(valid, 'tile', 128)).toBe(1)
    expect(embeddingsPerTile(valid, 'patch', 128)).toBe(64)
    expect(() => embeddingsPerTile({ ...valid, patches: null }, 'patch', 128)).toThrow('one embedding per tile')
  })

  test('tells how patches lie in a tile, in its own pixels', () => {
    expect(patchGrid(valid, 128)).toEqual({ columns: 8, rows: 8, width: 16, height: 16 })
    const fixed = { ...valid, input: { ...valid.input, size: { width: 64, height: 32 } } }
    expect(patchGrid(fixed, 128)).toEqual({ columns: 4, rows: 2, width: 32, height: 64 })
  })

  test('limits the tile size', () => {
    expect(() => checkTileSize(valid, 48)).not.toThrow()
    for (const size of [16, 50, 0, 63.5, Number.NaN]) {
      expect(() => checkTileSize(valid, size)).toThrow('needs a tile size of at least 32 pixels in steps of 16')
    }
  })
})

describe('the built-in manifests', () => {
  test('are valid', () => {
    for (const manifest of BUILT_IN_MANIFESTS) expect(parseManifest(manifest, manifest.id)).toBe(manifest)
  })

  test('have the published normalisation of DINOv3 for satellite images', () => {
    const { input, dims, patches } = byId(DEFAULT_MODEL)
    expect(input.mean).toEqual([0.43, 0.411, 0.296])
    expect(input.std).toEqual([0.213, 0.156, 0.143])
    expect(dims).toBe(1024)
    expect(patches).toEqual({ output: 'last_hidden_state', size: 16, skip: 5 })
    expect(isPinned(byId(DEFAULT_MODEL))).toBe(false)
  })

  test('call the built-in model what it is', () => {
    const manifest = byId(BUILT_IN_MODEL)
    expect(manifest).toMatchObject({ kind: 'handcrafted', pretrained: false, dims: 64 })
    expect(JSON.stringify(manifest).toLowerCase()).not.toContain('dino')
    expect(isPinned(manifest)).toBe(true)
  })
})
