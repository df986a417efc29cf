import { readFileSync } from 'node:fs'
import { OnnxGraph, type Value } from './graph.ts'
import { EDGES, FAMILIES, edgeFeatures, textureFeatures } from './texture-features.ts'
import calibrationOfV1 from './texture-spectral-calibration.json' with { type: 'json' }

/** Numbers per tile. */
const DIMS = 64
const OUTPUT = ['batch', DIMS] as const
/**
 * Mean and standard deviation of each feature of version 1 over procedural images: dead leaves under 1/f noise and
 * haze. Histogram bins that those images hardly reach have a deviation of 0.05. A test recomputes the table.
 */
export const CALIBRATION = calibrationOfV1 as [mean: number, spread: number][]

/**
 * Builds `builtin-texture-spectral-v1`: {@link textureFeatures} standardised, clipped to ±3, families weighted to equal
 * energy. Kept for tables that were made with it.
 *
 * Input `pixel_values` `[batch, 3, height, width]`: red, green, blue in [0, 1]; sides are multiples of 16, at least 64.
 * Output `embedding` `[batch, 64]`.
 */
export function buildTextureSpectral(): Uint8Array {
  const graph = new OnnxGraph('builtin-texture-spectral-v1')
  const counts = Object.values(FAMILIES)
  const weights = counts.flatMap((count) =>
    Array.from({ length: count }, () => Math.sqrt(DIMS / counts.length / count)),
  )
  const scaled = standardise(graph, textureFeatures(graph, input(graph)), CALIBRATION)
  graph.output('embedding', OUTPUT, graph.op('Mul', [scaled, graph.floats([DIMS], weights)]))
  return graph.encode()
}

/**
 * Builds `builtin-texture-spectral-v2`: {@link textureFeatures} and {@link edgeFeatures} standardised, clipped to ±3, then
 * multiplied by a matrix that weakens effects of light, haze, rotations and small shifts and reduces 82 numbers to 64.
 * The matrix was learned from generated scenes alone (tools/train-texture-spectral.ts). Input and output as version 1.
 */
export function buildTextureSpectralV2(): Uint8Array {
  const graph = new OnnxGraph('builtin-texture-spectral-v2')
  const { calibration, matrix } = readTraining()
  const scaled = standardise(graph, allFeatures(graph), calibration)
  const turned = graph.op('MatMul', [scaled, graph.floats([calibration.length, DIMS], matrix.flat())])
  graph.output('embedding', OUTPUT, turned)
  return graph.encode()
}

/** The uncalibrated features of version 2, for calibration: output `features` `[batch, 82]`, version 1's first. */
export function buildTextureFeatures(): Uint8Array {
  const graph = new OnnxGraph('texture-features')
  graph.output('features', ['batch', CALIBRATION.length + EDGES], allFeatures(graph))
  return graph.encode()
}

function input(graph: OnnxGraph): Value {
  return graph.input('pixel_values', ['batch', 3, 'height', 'width'])
}

function allFeatures(graph: OnnxGraph): Value {
  const pixels = input(graph)
  return graph.op('Concat', [textureFeatures(graph, pixels), edgeFeatures(graph, pixels)], { axis: 1 })
}

type Calibration = readonly (readonly [mean: number, spread: number])[]

/** One line per feature: mean, spread, and its row of the matrix. */
function readTraining(): { readonly calibration: Calibration; readonly matrix: readonly (readonly number[])[] } {
  const text = readFileSync(new URL('./texture-spectral-v2.tsv', import.meta.url), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const rows = lines.map((line) => line.split('\t').map(Number))
  return {
    calibration: rows.map(([mean, spread]) => [mean!, spread!] as const),
    matrix: rows.map((row) => row.slice(2)),
  }
}

function standardise(graph: OnnxGraph, values: Value, calibration: Calibration): Value {
  const count = calibration.length
  const means = calibration.map(([mean]) => mean)
  const spreads = calibration.map(([, spread]) => spread)
  const centred = graph.op('Sub', [values, graph.floats([count], means)])
  const scaled = graph.op('Div', [centred, graph.floats([count], spreads)])
  return graph.op('Clip', [scaled, graph.floats([], [-3]), graph.floats([], [3])])
}
