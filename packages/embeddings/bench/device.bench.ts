// Inference of vision transformers with random weights on a device and on the CPU, in tiles of 256 pixels per second.
// `node device.bench.ts webgpu` (or cuda, coreml, dml) on a machine with such a device; without an argument the CPU
// alone.
import { strict as assert } from 'node:assert'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { openWithProvider } from '../src/engine/open-with-provider.ts'
import type { Provider } from '../src/engine/providers.ts'
import { VIT_SMALL, buildRandomVit, type VitShape } from '../src/onnx/index.ts'

const TILE = 256
const ROUNDS = 5
/** Maximum difference from the CPU's results; a device may choose half precision by itself. */
const MAX_DIFFERENCE = 0.05
const SHAPES: readonly (readonly [string, VitShape])[] = [
  ['ViT-S/16', VIT_SMALL],
  ['ViT-L/16', { ...VIT_SMALL, dim: 1024, depth: 24, heads: 16 }],
]

const [, , device] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'terrane-device-'))
try {
  for (const [name, shape] of SHAPES) await compare(name, writeGraph(name.replaceAll(/\W/g, ''), shape))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function writeGraph(name: string, shape: VitShape): string {
  const path = join(folder, `${name}.onnx`)
  const weights = openSync(`${path}_data`, 'w')
  const external = { location: `${name}.onnx_data`, write: (bytes: Uint8Array) => void writeSync(weights, bytes) }
  writeFileSync(path, buildRandomVit(shape, 1, external))
  closeSync(weights)
  return path
}

async function compare(name: string, graph: string): Promise<void> {
  const cpu = await open(graph, [])
  const other = device === undefined ? null : await open(graph, [device as Provider])
  for (const refused of other?.refused ?? []) console.log(`${refused.provider} refused: ${refused.why}`)
  for (const batch of [1, 8, 32]) {
    const tiles = new Float32Array(batch * 3 * TILE * TILE)
    const random = seededRandom(batch)
    for (let i = 0; i < tiles.length; i++) tiles[i] = random()
    const feeds = { pixel_values: new Tensor('float32', tiles, [batch, 3, TILE, TILE]) }
    const onCpu = await measure(cpu.session, feeds, batch, batch > 8 ? 1 : ROUNDS)
    let line = `${name} batch ${batch}: cpu ${onCpu.rate.toFixed(1)} tiles/s on ${availableParallelism()} cores`
    if (other !== null && other.provider !== 'cpu') {
      const onDevice = await measure(other.session, feeds, batch, ROUNDS)
      const difference = onCpu.output.reduce((most, v, i) => Math.max(most, Math.abs(v - onDevice.output[i]!)), 0)
      assert(difference < MAX_DIFFERENCE, `${other.provider} differs from the CPU by ${difference}`)
      line +=
        `, ${other.provider} ${onDevice.rate.toFixed(1)}; RATIO ${(onDevice.rate / onCpu.rate).toFixed(1)}, ` +
        `largest difference ${difference.toExponential(1)}`
    }
    console.log(line)
  }
}

function open(graph: string, providers: readonly Provider[]) {
  return openWithProvider(providers, (by) =>
    InferenceSession.create(graph, { graphOptimizationLevel: 'all', logSeverityLevel: 3, ...by }),
  )
}

/** Tiles per second, as the median of the rounds after a warm-up round, and the pooled output. */
async function measure(
  session: InferenceSession,
  feeds: Record<string, Tensor>,
  batch: number,
  rounds: number,
): Promise<{ readonly rate: number; readonly output: Float32Array }> {
  const rates: number[] = []
  let output = new Float32Array()
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now()
    const results = await session.run(feeds)
    output = results['pooler_output']!.data as Float32Array<ArrayBuffer>
    if (round > 0 || rounds === 1) rates.push((batch * 1000) / (performance.now() - started))
  }
  return { rate: rates.toSorted((a, b) => a - b)[rates.length >> 1]!, output }
}
