/**
 * Learns src/onnx/texture-spectral-v2.tsv from generated scenes: `node tools/train-texture-spectral.ts`.
 *
 * Each scene is rendered unchanged and in six views of the same place: other gains of the channels (±15 %), another
 * gamma (0.8 to 1.25), haze, turned, moved by up to 4 pixels, with noise. C is the covariance of the changes of the
 * features between these views. The matrix is C^-0.35, lightly ridged, reduced to the 64 directions of largest variance
 * between scenes. The exponent lies between 0, which changes nothing, and 0.5, which makes all changes equally small
 * but separates kinds of scenes less.
 *
 * Source: within-class covariance normalisation (Hatch, Kajarekar and Stolcke 2006).
 */
import { writeFileSync } from 'node:fs'
import { seededRandom } from '@terrane/core'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { EDGES, FAMILIES } from '../src/onnx/texture-features.ts'
import { buildTextureFeatures } from '../src/onnx/texture-spectral.ts'
import { TEXTURES, naturalImage, textureImage, type Image } from '../test/fixtures/textures.ts'
import { VIEWS, seenOtherwise } from '../test/fixtures/views.ts'
import { eigenSymmetric, type Matrix } from './eigen.ts'

const SIDE = 128
const SCENES = 600
const DIMS = 64
const RIDGE = 0.1
const POWER = 0.35
/** Weight of each family in a distance before the matrix. */
const WEIGHTS = [
  [FAMILIES.colour, 1],
  [FAMILIES.texture, 1.2],
  [FAMILIES.contrast, 1],
  [EDGES, 1],
] as const
const COUNT = WEIGHTS.reduce((sum, [count]) => sum + count, 0)

const session = await InferenceSession.create(buildTextureFeatures(), { intraOpNumThreads: 1, logSeverityLevel: 3 })

async function features(image: Image): Promise<Float32Array> {
  const output = await session.run({ pixel_values: new Tensor('float32', image, [1, 3, SIDE, SIDE]) })
  return Float32Array.from(output['features']!.data as Float32Array)
}

const names = Object.keys(TEXTURES)
const random = seededRandom(99)
const plain: Float32Array[] = []
const seen: Float32Array[][] = VIEWS.map(() => [])
for (let i = 0; i < SCENES; i++) {
  // A margin of 4 pixels on all sides, for the shifts.
  const scene =
    i % 4 === 3 ? textureImage(names[i % names.length]!, 1000 + i, SIDE + 8) : naturalImage(500_000 + i, SIDE + 8)
  plain.push(await features(seenOtherwise('plain', scene, SIDE, random)))
  for (const [v, view] of VIEWS.entries()) seen[v]!.push(await features(seenOtherwise(view, scene, SIDE, random)))
}

const calibration = calibrate(plain)
const standard = (row: Float32Array): Float64Array =>
  Float64Array.from(row, (x, i) => {
    const [mean, spread, weight] = calibration[i]!
    return Math.max(-3, Math.min(3, (x - mean) / spread)) * weight
  })

const within = zeros()
const own = plain.map(standard)
for (const [v, rows] of seen.entries()) {
  // Haze reduces contrast: only with twice the weight are its changes suppressed as well as the others.
  const weight = (VIEWS[v] === 'haze' ? 2 : 1) / SCENES
  for (const [i, row] of rows.entries()) {
    const change = standard(row).map((x, d) => x - own[i]![d]!)
    addProduct(within, change, weight)
  }
}
const trace = within.reduce((sum, row, i) => sum + row[i]!, 0)
for (const [i, row] of within.entries()) row[i]! += (RIDGE * trace) / COUNT
const steady = power(within, -POWER)
const turned = own.map((row) => product(steady, row))
const mean = Float64Array.from({ length: COUNT }, (_, d) => turned.reduce((s, row) => s + row[d]!, 0) / SCENES)
const between = zeros()
for (const row of turned)
  addProduct(
    between,
    row.map((x, d) => x - mean[d]!),
    1 / SCENES,
  )
const { values, vectors } = eigenSymmetric(between)
const kept = vectors.slice(0, DIMS)
const scale = Math.sqrt(DIMS / values.slice(0, DIMS).reduce((sum, value) => sum + value, 0))

const lines = calibration.map(([centre, spread, weight], i) => {
  const row = kept.map((axis) => weight * scale * axis.reduce((sum, x, j) => sum + x * steady[j]![i]!, 0))
  return [centre.toFixed(4), spread.toFixed(4), ...row.map((x) => x.toFixed(4))].join('\t')
})
const head = '# feature by feature: mean, spread, row of the matrix; made by tools/train-texture-spectral.ts'
writeFileSync(new URL('../src/onnx/texture-spectral-v2.tsv', import.meta.url), `${[head, ...lines].join('\n')}\n`)

/** Mean, spread and weight of each feature; a spread is at least a quarter of the usual one in its family. */
function calibrate(rows: readonly Float32Array[]): (readonly [number, number, number])[] {
  let first = 0
  return WEIGHTS.flatMap(([count, weight]) => {
    const family = Array.from({ length: count }, (_, i) => {
      const column = rows.map((row) => row[first + i]!)
      const centre = column.reduce((s, x) => s + x, 0) / column.length
      return [centre, Math.sqrt(column.reduce((s, x) => s + (x - centre) ** 2, 0) / column.length)] as const
    })
    first += count
    const floor = (0.25 * family.reduce((s, [, spread]) => s + spread, 0)) / count
    return family.map(([centre, spread]) => [centre, Math.max(floor, spread), weight / Math.sqrt(count)] as const)
  })
}

function zeros(): Float64Array[] {
  return Array.from({ length: COUNT }, () => new Float64Array(COUNT))
}

function addProduct(matrix: readonly Float64Array[], row: Float64Array, weight: number): void {
  for (let i = 0; i < COUNT; i++) for (let j = 0; j < COUNT; j++) matrix[i]![j]! += row[i]! * row[j]! * weight
}

function product(matrix: Matrix, row: Float64Array): Float64Array {
  return Float64Array.from(matrix, (line) => line.reduce((sum, x, i) => sum + x * row[i]!, 0))
}

function power(matrix: Matrix, exponent: number): Float64Array[] {
  const { values: sizes, vectors: axes } = eigenSymmetric(matrix)
  return Array.from({ length: COUNT }, (_, i) =>
    Float64Array.from({ length: COUNT }, (__, j) =>
      axes.reduce((sum, axis, k) => sum + axis[i]! * axis[j]! * sizes[k]! ** exponent, 0),
    ),
  )
}
