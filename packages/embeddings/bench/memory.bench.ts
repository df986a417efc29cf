// How much memory embedding a raster of 10,240 × 10,240 pixels adds to a process, beyond the model.
// Goal: 250 MB at most; in the parallel mode every thread has a copy of the model.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

import { type EngineMode, openEngine } from '../src/index.ts'
import { TILE, benchModel, benchRaster, benchTiles } from './fixtures.ts'

const threads = Math.min(2, availableParallelism())
const [, script = '', name, mode] = process.argv

if (name === undefined || mode === undefined) {
  const raster = await benchRaster(10_240)
  console.log(
    `${raster.inspected.plan.count} tiles, ${(raster.inspected.raster.bytes / 1e6).toFixed(0)} MB GeoTIFF, ${threads} threads`,
  )
  for (const one of ['built-in', 'vit-s']) for (const how of ['parallel', 'pipeline']) report(one, how)
} else {
  await measure(name === 'vit-s' ? 'vit-s' : 'built-in', mode === 'pipeline' ? 'pipeline' : 'parallel')
}

function report(model: string, how: string): void {
  const { stdout, status } = spawnSync(process.execPath, [script, model, how], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  assert.equal(status, 0)
  process.stdout.write(stdout)
}

async function measure(model: 'built-in' | 'vit-s', how: EngineMode): Promise<void> {
  const before = process.memoryUsage().rss
  const opened = await benchModel(model)
  const raster = await benchRaster(10_240)
  // The transformer is slow; a part of the raster shows its steady state.
  const tiles = benchTiles(raster, opened)
  const source = { ...tiles, count: model === 'vit-s' ? 100 : tiles.count }
  await using engine = await openEngine(opened, { threads, mode: how })
  let count = 0
  for await (const batch of engine.embed({ source, tileSize: TILE })) count += batch.tiles.length
  assert.equal(count, source.count)
  const peak = process.resourceUsage().maxRSS * 1024
  const copies = how === 'parallel' ? threads : 1
  const over = (peak - before - opened.bytes * copies) / 1e6
  console.log(
    `${model.padEnd(8)} ${how.padEnd(8)} peak ${(peak / 1e6).toFixed(0)} MB, of it ${(before / 1e6).toFixed(0)} at start and ` +
      `${((opened.bytes * copies) / 1e6).toFixed(0)} of models: ${over.toFixed(0)} MB beyond both`,
  )
}
