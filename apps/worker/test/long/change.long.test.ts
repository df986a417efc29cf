import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { shareOfRun } from '@terrane/testing/property'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dateChanges, type DatedChanges } from '../date-changes.ts'
import { openWorker, type TestWorker } from '../harness.ts'
import { rankChanges } from '../rank-changes.ts'

const KINDS = shareOfRun('change: kinds', ['brighter', 'gain', 'shift'] as const, 1)
const GOALS = { brighter: 0.99, gain: 0.99, shift: 0.9 } as const

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

test.for(KINDS)('ten pairs of scenes: %s', async (kind) => {
  const found: number[] = []
  for (let i = 0; i < 10; i++) {
    const type = i % 2 ? 'float32' : 'uint16'
    const share = [0.05, 0.15, 0.3][i % 3]!
    found.push(await rankChanges(worker, folder, { kind, type, share, side: 9, seed: 100 + i }))
  }
  expect(Math.min(...found), found.map((area) => area.toFixed(3)).join(' ')).toBeGreaterThanOrEqual(GOALS[kind])
})

test('ten series of six dates', async () => {
  const found: DatedChanges[] = []
  for (let i = 0; i < 10; i++) found.push(await dateChanges(worker, folder, { seed: 200 + i, side: 10 }))
  const sum = (part: keyof DatedChanges) => found.reduce((all, one) => all + one[part], 0)
  const told = found.map(({ changed, dated, ranked }) => `${dated} and ${ranked} of ${changed}`).join(', ')
  expect(sum('dated') / sum('changed'), told).toBeGreaterThanOrEqual(0.95)
  expect(sum('ranked') / sum('changed'), told).toBeGreaterThanOrEqual(0.95)
})
