import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dateChanges } from './date-changes.ts'
import { openWorker, type TestWorker } from './harness.ts'
import { rankChanges } from './rank-changes.ts'

let worker: TestWorker
let folder: string

beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_MODEL_DOWNLOAD: 'false' } })
  folder = join(worker.folder, 'data')
  await mkdir(folder)
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
})

test.for([
  { kind: 'brighter', type: 'uint16', share: 0.3, seed: 1, atLeast: 0.99 },
  { kind: 'gain', type: 'float32', share: 0.15, seed: 2, atLeast: 0.99 },
  { kind: 'shift', type: 'uint16', share: 0.1, seed: 3, atLeast: 0.9 },
] as const)('changed tiles come first: $kind, $type, $share of the scene', async ({ atLeast, ...pair }) => {
  expect(await rankChanges(worker, folder, { ...pair, side: 6 })).toBeGreaterThanOrEqual(atLeast)
})

test('changes in a series of six dates have their dates', async () => {
  const { changed, dated, ranked } = await dateChanges(worker, folder, { seed: 21, side: 7 })
  expect({ dated: dated / changed, ranked: ranked / changed }).toSatisfy(
    (found: { dated: number; ranked: number }) => found.dated >= 0.95 && found.ranked >= 0.95,
  )
})
