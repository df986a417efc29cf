import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { DecodeThread } from '../src/decode-thread.ts'
import type { Run } from '../src/plan.ts'
import { readRuns } from '../src/read-runs.ts'

const unhandled = vi.fn<(reason: unknown) => void>()
afterEach(() => process.off('unhandledRejection', unhandled))

/** A run of one group whose bytes come by a function. */
function run(read: () => Promise<Uint8Array>): Run {
  const group = { index: 0, start: 0, end: 8 }
  const file = { footer: null, file: { url: 'http://localhost/places', size: 8, read } }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of it as is read
  return { file, groups: [group], start: 0, end: 8 } as unknown as Run
}

test('a read ahead that fails while rows are decoded is thrown in its turn', async () => {
  process.on('unhandledRejection', unhandled)
  const bytes = () => Promise.resolve(new Uint8Array(8))
  const failing = () => Promise.reject(new Error('the connection was lost'))
  const decode = () => setTimeout(20, [])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a thread that decodes nothing, slowly
  const rows = readRuns([run(bytes), run(failing)], { decode } as unknown as DecodeThread, { columns: [], multi: [] })
  const all = async () => {
    for await (const _ of rows) continue
  }
  await expect(all()).rejects.toThrow('the connection was lost')
  await setTimeout(0)
  expect(unhandled).not.toHaveBeenCalled()
})
