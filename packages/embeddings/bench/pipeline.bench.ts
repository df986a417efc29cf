// From a GeoTIFF to embeddings, compared with the bare runtime on tensors that are already in memory. Goals: ratio to
// the bare runtime >= 0.95 for a ViT-S; for the built-in model >= 0.85 of the ideal (bare inference and bare decoding
// in sequence on every core), and >= 220 tiles/s on 2 cores. The event loop of the calling thread never stalls for more
// than 50 ms. One model alone: `node pipeline.bench.ts vit-s`.
import { strict as assert } from 'node:assert'
import { availableParallelism } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'

import type { GeoTiffReaderOptions } from '../src/engine/geotiff-reader.ts'
import { type Engine, type EngineMode, openEngine } from '../src/index.ts'
import { BareSessions } from './bare-session.ts'
import { TILE, benchModel, benchRaster, benchTiles, median } from './fixtures.ts'

const ROUNDS = 5
const threads = Math.min(2, availableParallelism())
const raster = await benchRaster(4096)

const [, , only] = process.argv
for (const [name, tiles] of [
  ['built-in', 256],
  ['vit-s', 64],
] as const) {
  if (only !== undefined && only !== name) continue
  for (const mode of ['parallel', 'pipeline'] as const) await compare(name, mode, tiles)
}

async function compare(name: 'built-in' | 'vit-s', mode: EngineMode, tiles: number): Promise<void> {
  const model = await benchModel(name)
  const source = { ...benchTiles(raster, model), count: tiles }
  const reader = source.options as GeoTiffReaderOptions
  const [sessions, cores] = mode === 'parallel' ? [threads, 1] : [1, threads]
  await using bare = await BareSessions.open(model, reader, sessions, cores)
  await using engine = await openEngine(model, { threads, mode })
  const rates = { infer: [] as number[], decode: [] as number[], engine: [] as number[] }
  const stalls = { engine: 0, idle: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    await watch(stalls, 'idle', async () => {
      rates.infer.push(await bare.measure('infer', tiles))
      rates.decode.push(await bare.measure('decode', tiles))
    })
    await watch(stalls, 'engine', async () => {
      rates.engine.push(await embedAll(engine, source, bare.first))
    })
  }
  const [infer, decode, whole] = [median(rates.infer), median(rates.decode), median(rates.engine)]
  // Compared round by round, because a shared machine drifts. The pipeline's decoding has a thread but no core of its
  // own.
  const decoders = mode === 'parallel' ? 1 : threads
  const ideals = rates.infer.map((rate, i) => 1 / (1 / rate + 1 / (rates.decode[i]! * decoders)))
  const toBare = median(rates.engine.map((rate, i) => rate / rates.infer[i]!))
  const toIdeal = median(rates.engine.map((rate, i) => rate / ideals[i]!))
  console.log(
    `${name.padEnd(8)} ${mode.padEnd(8)} ${threads} cores: engine ${whole.toFixed(1)} tiles/s, ` +
      `bare inference ${infer.toFixed(1)}, bare decoding ${decode.toFixed(0)}; ` +
      `RATIO to bare ${toBare.toFixed(2)}, to ideal ${toIdeal.toFixed(2)}; ` +
      `longest stall of the event loop ${stalls.engine.toFixed(0)} ms (${stalls.idle.toFixed(0)} ms while it had nothing to do)`,
  )
}

/** Records the longest stall of the event loop; other load on the machine affects both figures alike. */
async function watch(
  stalls: Record<'engine' | 'idle', number>,
  name: 'engine' | 'idle',
  work: () => Promise<void>,
): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await work()
  delay.disable()
  stalls[name] = Math.max(stalls[name], delay.max / 1e6)
}

/** Tiles per second; checks that the first embedding is the bare runtime's. */
async function embedAll(engine: Engine, source: ReturnType<typeof benchTiles>, first: Float32Array): Promise<number> {
  const started = performance.now()
  let count = 0
  for await (const { tiles, embeddings } of engine.embed({ source, tileSize: TILE, normalize: false })) {
    if (tiles[0] === 0) for (const [d, value] of first.entries()) assert(Math.abs(value - embeddings[d]!) < 1e-4)
    count += tiles.length
  }
  assert.equal(count, source.count)
  return (count * 1000) / (performance.now() - started)
}
