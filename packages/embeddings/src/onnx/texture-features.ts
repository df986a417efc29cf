import type { OnnxGraph, Value } from './graph.ts'

const ORIENTATIONS = 8
/** The four phases of a filter: with a rectifier after each, their sum is the modulus of a quadrature pair. */
const PHASES = 4
const BANK = ORIENTATIONS * PHASES
const KERNEL = 6
/** Per octave: filter responses are 2, 4, 8, 16 pixels apart; these windows average them over 8, 8, 8, 16 pixels. */
const WINDOWS = [4, 2, 1, 1]

/** Luminance, red-green and blue-yellow as weights of red, green and blue. */
const OPPONENTS: readonly (readonly number[])[] = [
  [0.299, 0.587, 0.114],
  [0.5, -0.5, 0],
  [0.25, 0.25, -0.5],
]
const CHROMA_BINS = [-0.15, -0.07, -0.025, 0, 0.025, 0.07, 0.15]
/** Bin centres per channel; luminance is finer in the dark. */
const BINS = [Array.from({ length: 11 }, (_, i) => round((i / 10) ** 1.5)), CHROMA_BINS, CHROMA_BINS]

/** How many numbers each family of {@link textureFeatures} has. */
export const FAMILIES = { colour: 31, texture: 16, contrast: 17 }
/** How many numbers {@link edgeFeatures} has. */
export const EDGES = 18
/** Centres of the bins of the logarithm of a gradient. */
const EDGE_BINS = [-5.3, -4.6, -3.9, -3.2, -2.5, -1.8]

/**
 * A tile's colours and textures as 64 numbers, by fixed filters; nothing is learned from images.
 *
 * - colour (31): mean and standard deviation of luminance, red-green and blue-yellow; square roots of their soft
 *   histograms (11 + 7 + 7 triangular bins).
 * - texture (16): per octave (4), from 8 orientations of Gabor pairs: log amplitude, two rotation-invariant
 *   anisotropies (2nd and 4th harmonic over orientation), log variation of the amplitude between windows.
 * - contrast (17): log gradient of both chroma channels at 2, 4, 8 and 16 pixels; log deviation of local means of all
 *   three channels at 4, 8 and 16 pixels.
 *
 * Sampling is symmetric, so turning a tile by 90 degrees changes nothing but rounding.
 *
 * Sources: Gabor texture features (Manjunath and Ma 1996), opponent histograms (Swain and Ballard 1991).
 *
 * @param pixels `[batch, 3, height, width]`: red, green, blue in [0, 1]; sides are multiples of 16, at least 64
 */
export function textureFeatures(graph: OnnxGraph, pixels: Value): Value {
  const scales = [mix(graph, averagePool(graph, pixels, 2), OPPONENTS)]
  for (let i = 1; i < WINDOWS.length; i++) scales.push(averagePool(graph, scales[i - 1]!, 2))
  const luminance = [
    mix(graph, pixels, OPPONENTS.slice(0, 1)),
    ...scales.slice(0, -1).map((scale) => slice(graph, scale, [0, 1], 1)),
  ]
  const parts = [
    ...moments(graph, scales[0]!),
    softHistogram(graph, scales[0]!, BINS),
    ...texture(graph, luminance),
    ...scales.map((scale) => chromaGradient(graph, scale)),
    ...scales.slice(1).map((scale) => log(graph, deviation(graph, scale))),
  ]
  const flat = parts.map((part) => graph.op('Flatten', [part], { axis: 1 }))
  return graph.op('Concat', flat, { axis: 1 })
}

/**
 * Presence and strength of edges: square roots of soft histograms (6 bins) of the logarithm of the luminance gradient
 * at 2, 4 and 8 pixels. They detect thin lines, unlike averages over windows, and are nearly independent of brightness.
 */
export function edgeFeatures(graph: OnnxGraph, pixels: Value): Value {
  let luminance = mix(graph, averagePool(graph, pixels, 2), OPPONENTS.slice(0, 1))
  const parts: Value[] = []
  for (let octave = 0; octave < 3; octave++) {
    if (octave > 0) luminance = averagePool(graph, luminance, 2)
    const sides = graph.op('Relu', [graph.op('Conv', [luminance, graph.floats([4, 1, 3, 3], sobel())])])
    const gradient = graph.op('Conv', [sides, graph.floats([1, 4, 1, 1], [1, 1, 1, 1])])
    parts.push(softHistogram(graph, log(graph, add(graph, gradient, 4e-3)), [EDGE_BINS]))
  }
  const flat = parts.map((part) => graph.op('Flatten', [part], { axis: 1 }))
  return graph.op('Concat', flat, { axis: 1 })
}

/** The two Sobel filters and their negatives: rectified, their sum is the absolute gradient. */
function sobel(): number[] {
  const across = [-1, 0, 1, -2, 0, 2, -1, 0, 1].map((value) => value / 8)
  const down = [-1, -2, -1, 0, 0, 0, 1, 2, 1].map((value) => value / 8)
  return [across, across.map((value) => -value), down, down.map((value) => -value)].flat()
}

/** Mean and standard deviation of each channel. */
function moments(graph: OnnxGraph, channels: Value): Value[] {
  return [globalAverage(graph, channels), deviation(graph, channels)]
}

/**
 * Square roots of soft histograms. A triangular bin is a second difference of hinges `max(0, x - knot)`, and so is its
 * mean over the pixels: one rectified 1 × 1 convolution and one average serve all bins.
 */
function softHistogram(graph: OnnxGraph, channels: Value, bins: readonly (readonly number[])[]): Value {
  const knots = bins.flat().length
  const padded = Math.ceil(knots / 16) * 16 // the runtime computes channels in blocks of 16
  const count = bins.length
  const pick = new Float32Array(padded * count)
  const bias = new Float32Array(padded)
  const combine = new Float32Array(knots * padded)
  const offset = new Float32Array(knots)
  let first = 0
  for (const [channel, centres] of bins.entries()) {
    for (const [i, centre] of centres.entries()) {
      pick[(first + i) * count + channel] = 1
      bias[first + i] = -centre
      const row = (first + i) * padded + first + i
      if (i === 0) offset[first] = 1
      else addRamp(combine, row, -1, 1 / (centre - centres[i - 1]!))
      if (i < centres.length - 1) addRamp(combine, row, 1, 1 / (centres[i + 1]! - centre))
    }
    first += centres.length
  }
  const hinges = rectifiedMean(graph, channels, graph.floats([padded, count, 1, 1], pick), [
    graph.floats([padded], bias),
  ])
  const weights = graph.floats([knots, padded, 1, 1], combine)
  const shares = graph.op('Conv', [hinges, weights, graph.floats([knots], offset)])
  return graph.op('Sqrt', [add(graph, graph.op('Relu', [shares]), 1e-4)])
}

/** Adds `slope · (hinge(neighbour) - hinge(own))`: the rise before a bin's centre, or the fall after it. */
function addRamp(matrix: Float32Array, own: number, neighbour: -1 | 1, slope: number): void {
  matrix[own]! -= slope
  matrix[own + neighbour]! += slope
}

/** Log amplitude, anisotropies and log variation of each octave. */
function texture(graph: OnnxGraph, octaves: readonly Value[]): Value[] {
  const bank = graph.floats([BANK, 1, KERNEL, KERNEL], gaborBank())
  const mean = graph.floats([1, BANK, 1, 1], new Float32Array(BANK).fill(1 / BANK))
  const border = (KERNEL - 2) / 2
  const pads = graph.ints([0, 0, border, border, 0, 0, border, border])
  const responses: Value[] = []
  const squares: Value[] = []
  for (const [octave, luminance] of octaves.entries()) {
    const padded = graph.op('Pad', [luminance, pads], { mode: 'reflect' })
    const rectified = graph.op('Relu', [graph.op('Conv', [padded, bank], { strides: [2, 2] })])
    const windows = averagePool(graph, rectified, WINDOWS[octave]!)
    const amplitude = graph.op('Conv', [windows, mean])
    responses.push(graph.op('Reshape', [globalAverage(graph, windows), graph.ints([-1, 1, BANK])]))
    squares.push(graph.op('Reshape', [meanSquare(graph, amplitude), graph.ints([-1, 1, 1])]))
  }
  const harmonics = graph.op('MatMul', [graph.op('Concat', responses, { axis: 1 }), harmonicsOverOrientation(graph)])
  const amplitude = add(graph, slice(graph, harmonics, [0, 1], 2), 1e-4)
  const relative = graph.op('Div', [slice(graph, harmonics, [1, 5], 2), amplitude])
  const powers = graph.op('MatMul', [square(graph, relative), graph.floats([4, 2], [1, 0, 1, 0, 0, 1, 0, 1])])
  const ratio = graph.op('Div', [graph.op('Concat', squares, { axis: 1 }), square(graph, amplitude)])
  const variation = graph.op('Sqrt', [add(graph, graph.op('Relu', [add(graph, ratio, -1)]), 1e-4)])
  return [log(graph, amplitude), graph.op('Sqrt', [add(graph, powers, 1e-6)]), log(graph, variation)]
}

/** `[BANK, 5]`: mean over the bank; cosine and sine of the 2nd, then of the 4th harmonic of the orientation. */
function harmonicsOverOrientation(graph: OnnxGraph): Value {
  const matrix: number[] = []
  for (let i = 0; i < BANK; i++) {
    const angle = (Math.floor(i / PHASES) * Math.PI) / ORIENTATIONS
    const waves = [Math.cos(2 * angle), Math.sin(2 * angle), Math.cos(4 * angle), Math.sin(4 * angle)]
    matrix.push(1 / BANK, ...waves.map((wave) => round((wave * 2) / BANK)))
  }
  return graph.floats([BANK, 5], matrix)
}

/** Unit-norm, zero-mean Gabor filters of a quarter cycle per pixel: orientation by orientation, four phases each. */
function gaborBank(): number[] {
  const sigma = 1.4
  const bank: number[] = []
  for (let i = 0; i < BANK; i++) {
    const angle = (Math.floor(i / PHASES) * Math.PI) / ORIENTATIONS
    const phase = ((i % PHASES) * 2 * Math.PI) / PHASES
    const envelope: number[] = []
    const wave: number[] = []
    for (let at = 0; at < KERNEL * KERNEL; at++) {
      const u = (at % KERNEL) - (KERNEL - 1) / 2
      const v = Math.floor(at / KERNEL) - (KERNEL - 1) / 2
      envelope.push(Math.exp(-(u * u + v * v) / (2 * sigma * sigma)))
      wave.push(envelope[at]! * Math.cos((Math.PI / 2) * (u * Math.cos(angle) + v * Math.sin(angle)) + phase))
    }
    const level = sum(wave) / sum(envelope)
    const filter = wave.map((value, at) => value - level * envelope[at]!)
    const norm = Math.sqrt(sum(filter.map((value) => value * value)))
    bank.push(...filter.map((value) => round(value / norm)))
  }
  return bank
}

/** Log of the mean absolute gradient over both diagonals' sides, of red-green and blue-yellow. */
function chromaGradient(graph: OnnxGraph, channels: Value): Value {
  const weights = new Float32Array(16 * 3 * 4)
  const total = new Float32Array(2 * 16)
  let filter = 0
  for (const chroma of [1, 2]) {
    for (const edge of [
      [1, 1, -1, -1],
      [1, -1, 1, -1],
      [-1, -1, 1, 1],
      [-1, 1, -1, 1],
    ]) {
      for (const [i, value] of edge.entries()) weights[(filter * 3 + chroma) * 4 + i] = value / 2
      total[(chroma - 1) * 16 + filter++] = 1
    }
  }
  const means = rectifiedMean(graph, channels, graph.floats([16, 3, 2, 2], weights))
  return log(graph, add(graph, graph.op('Conv', [means, graph.floats([2, 16, 1, 1], total)]), 2e-3))
}

/** Linear combinations of the three channels, as one matrix product: `[batch, rows, height, width]`. */
function mix(graph: OnnxGraph, channels: Value, rows: readonly (readonly number[])[]): Value {
  const shape = graph.op('Shape', [channels])
  const columns = graph.op('Reshape', [channels, graph.ints([0, 3, -1])])
  const mixed = graph.op('MatMul', [graph.floats([rows.length, 3], rows.flat()), columns])
  const target = graph.op(
    'Concat',
    [slice(graph, shape, [0, 1], 0), graph.ints([rows.length]), slice(graph, shape, [2, 4], 0)],
    { axis: 0 },
  )
  return graph.op('Reshape', [mixed, target])
}

/** Standard deviation of each channel over the image. */
function deviation(graph: OnnxGraph, channels: Value): Value {
  const variance = graph.op('Sub', [meanSquare(graph, channels), square(graph, globalAverage(graph, channels))])
  return graph.op('Sqrt', [add(graph, graph.op('Relu', [variance]), 1e-6)])
}

function rectifiedMean(graph: OnnxGraph, input: Value, weights: Value, bias: readonly Value[] = []): Value {
  return globalAverage(graph, graph.op('Relu', [graph.op('Conv', [input, weights, ...bias])]))
}

function averagePool(graph: OnnxGraph, input: Value, size: number): Value {
  return size === 1 ? input : graph.op('AveragePool', [input], { kernel_shape: [size, size], strides: [size, size] })
}

function globalAverage(graph: OnnxGraph, input: Value): Value {
  return graph.op('GlobalAveragePool', [input])
}

function meanSquare(graph: OnnxGraph, input: Value): Value {
  return globalAverage(graph, square(graph, input))
}

function square(graph: OnnxGraph, input: Value): Value {
  return graph.op('Mul', [input, input])
}

function log(graph: OnnxGraph, input: Value): Value {
  return graph.op('Log', [input])
}

function add(graph: OnnxGraph, input: Value, constant: number): Value {
  return graph.op('Add', [input, graph.floats([], [constant])])
}

function slice(graph: OnnxGraph, input: Value, [start, end]: readonly [number, number], axis: number): Value {
  return graph.op('Slice', [input, graph.ints([start]), graph.ints([end]), graph.ints([axis])])
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Rounds to 6 decimals, so that differences in a platform's sine never reach the file. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
