import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { bandStatistics } from './statistics.ts'

type Statistics = typeof bandStatistics

/** Statistics of noise of four million pixels; every second one is valid. */
const PROGRAM = `
  import(process.env.STATISTICS).then(({ bandStatistics }) => {
    const plane = Float32Array.from({ length: 4194304 }, (_, i) => (i * 7919) % 4194301)
    const alpha = Uint8Array.from({ length: plane.length }, (_, i) => i % 2)
    const options = { percentiles: [50], bins: 10, range: null, isCategorical: false, categories: [] }
    require('node:worker_threads').parentPort.postMessage(bandStatistics(plane, alpha, options))
  })`

test('statistics of millions of values that all differ do not hold each as an object', async () => {
  const worker = new Worker(PROGRAM, {
    eval: true,
    env: { STATISTICS: import.meta.resolve('./statistics.ts') },
    resourceLimits: { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 },
  })
  const [found] = (await once(worker, 'message')) as [ReturnType<Statistics>]
  await worker.terminate()
  expect(found).toMatchObject({ count: 2_097_152, valid_percent: 50, masked_pixels: 2_097_152, unique: 2_097_152 })
})
