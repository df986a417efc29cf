import { expect, test } from 'vitest'

import { tinyVitManifest, pinnedFile } from '../../test/fixtures/models.ts'
import { fakeTiles } from '../../test/fixtures/tile-readers.ts'
import type { Model } from '../models/acquire-files.ts'
import { buildRandomVit } from '../onnx/random-vit.ts'
import { createEnginePool } from './engine-pool.ts'
import type { Engine } from './engine.ts'

const graph = buildRandomVit({ dim: 32, depth: 1, heads: 2, patch: 16, registers: 4 }, 7)

/** A model that is taken to need about 1 GB per copy. */
function model(id: string, bytes = 1_000_000_000): Model {
  return { manifest: tinyVitManifest([pinnedFile('model.onnx', graph, null)], id), graph, sha256: id, bytes }
}

async function works(engine: Engine): Promise<boolean> {
  try {
    const batches = await Array.fromAsync(engine.embed({ source: fakeTiles(2), tileSize: 64 }))
    return batches.length > 0
  } catch {
    return false
  }
}

test('a model stays open from lease to lease', async () => {
  await using pool = createEnginePool({ threads: 1, memoryBytes: 4e9 })
  const engines: Engine[] = []
  for (let i = 0; i < 2; i++) {
    using lease = await pool.lease(model('a'))
    engines.push(lease.engine)
  }
  const [one, two] = await Promise.all([pool.lease(model('b')), pool.lease(model('b'))])
  expect(engines[0]).toBe(engines[1])
  expect(one.engine).toBe(two.engine)
  expect(await works(engines[0]!)).toBe(true)
})

test('the least recently used model is closed to make room, but never one in use', async () => {
  await using pool = createEnginePool({ threads: 1, memoryBytes: 2.6e9 })
  const a = await pool.lease(model('a'))
  const b = await pool.lease(model('b'))
  b[Symbol.dispose]()
  const c = await pool.lease(model('c'))
  expect([await works(a.engine), await works(b.engine), await works(c.engine)]).toEqual([true, false, true])
  a[Symbol.dispose]()
  c[Symbol.dispose]()
  using again = await pool.lease(model('a'))
  using d = await pool.lease(model('d'))
  expect(again.engine).toBe(a.engine)
  expect([await works(again.engine), await works(c.engine), await works(d.engine)]).toEqual([true, false, true])
})

test('a model whose copies do not fit runs as a pipeline', async () => {
  await using pool = createEnginePool({ threads: 2, memoryBytes: 2e9 })
  using large = await pool.lease(model('large'))
  using small = await pool.lease(model('small', 1e6))
  expect([large.engine.mode, small.engine.mode]).toEqual(['pipeline', 'parallel'])
})

test('a model that does not open can be tried again', async () => {
  await using pool = createEnginePool({ threads: 1 })
  const broken = { ...model('a', 1e6), graph: new Uint8Array(3) }
  await expect(pool.lease(broken)).rejects.toMatchObject({ code: 'MODEL_MISMATCH' })
  using lease = await pool.lease(model('a', 1e6))
  expect(await works(lease.engine)).toBe(true)
})

test('waiting for a model can be cancelled', async () => {
  await using pool = createEnginePool({ threads: 1 })
  const controller = new AbortController()
  const reason = new Error('enough')
  const pending = pool.lease(model('a', 1e6), controller.signal)
  controller.abort(reason)
  await expect(pending).rejects.toBe(reason)
  await expect(pool.lease(model('a', 1e6), controller.signal)).rejects.toBe(reason)
})
