// A ViT-S/16 with random weights in float32 and in int8 (static QDQ), in turns on one core: speed-up by integers on
// this machine, and similarity of the embeddings. Processors with VNNI multiply bytes (flag avx512_vnni or avx_vnni of
// /proc/cpuinfo).
//   int8.bench.ts [tiles, 12]
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { seededRandom } from '@terrane/core'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { keepTelemetryOff } from '../src/engine/telemetry.ts'
import { VIT_SMALL, buildRandomVit } from '../src/onnx/index.ts'

const TILES = Number(process.argv[2] ?? 12)
const SIDE = 224

keepTelemetryOff()
const open = (numbers: 'float32' | 'int8') =>
  InferenceSession.create(buildRandomVit(VIT_SMALL, 1, null, numbers), { intraOpNumThreads: 1, logSeverityLevel: 3 })
const sessions = { float32: await open('float32'), int8: await open('int8') }
const milliseconds = { float32: [] as number[], int8: [] as number[] }
const cosines: number[] = []

for (let tile = -1; tile < TILES; tile++) {
  const random = seededRandom(tile + 2)
  const pixels = Float32Array.from({ length: 3 * SIDE * SIDE }, () => random() * 4 - 2)
  const vectors: Float32Array[] = []
  for (const kind of ['float32', 'int8'] as const) {
    const from = process.cpuUsage()
    const found = await sessions[kind].run({ pixel_values: new Tensor('float32', pixels, [1, 3, SIDE, SIDE]) })
    const { user, system } = process.cpuUsage(from)
    // The first tile warms up both sessions.
    if (tile >= 0) milliseconds[kind].push((user + system) / 1000)
    vectors.push(Float32Array.from(found['pooler_output']!.data as Float32Array))
  }
  cosines.push(cosine(vectors[0]!, vectors[1]!))
}

const vnni = /avx512_vnni|avx_vnni/.test(readFileSync('/proc/cpuinfo', 'utf8'))
const [float, int8] = [median(milliseconds.float32), median(milliseconds.int8)]
console.log(
  `${cpus()[0]?.model}, VNNI ${vnni ? 'yes' : 'no'}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`,
)
console.log(
  `ViT-S/16, ${SIDE} px, CPU ms a tile: float32 ${float.toFixed(0)}, int8 ${int8.toFixed(0)}: RATIO ${(float / int8).toFixed(2)}`,
)
console.log(`cosine of both embeddings: least ${Math.min(...cosines).toFixed(4)}, middle ${median(cosines).toFixed(4)}`)

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [ab, aa, bb] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    ab += a[i]! * b[i]!
    aa += a[i]! ** 2
    bb += b[i]! ** 2
  }
  return ab / Math.sqrt(aa * bb)
}
