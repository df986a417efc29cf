import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

/** Reads rasters in a thread, and tells the modules that this has loaded. */
const PROGRAM = `
  const { registerHooks } = require('node:module')
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  import(process.env.RASTER).then(() => require('node:worker_threads').parentPort.postMessage(loaded))`

test('a thread that reads rasters does not load the library for pictures', async () => {
  const worker = new Worker(PROGRAM, { eval: true, env: { RASTER: import.meta.resolve('./index.ts') } })
  const [loaded] = (await once(worker, 'message')) as [string[]]
  await worker.terminate()
  expect(loaded.filter((url) => url.endsWith('/raster/inspect.ts'))).toHaveLength(1)
  expect(loaded.filter((url) => url.includes('/node_modules/sharp/'))).toEqual([])
})

test('the raster reader can be required, as a program of CommonJS does', () => {
  expect(createRequire(import.meta.url)('./index.ts')).toHaveProperty('inspectGeoTiff')
})
