import { seededRandom } from '@terrane/core'
import { cellToLatLng, gridDisk, gridDistance, latLngToCell } from 'h3-js'
import { describe, expect, test } from 'vitest'

import { Encoder } from './encoder.ts'
import { type Hex2VecResult, trainHex2Vec } from './hex2vec.ts'
import { neighbourRings } from './neighbourhood.ts'
import { CountBuilder, type SparseCounts } from './sparse-counts.ts'

const cells = gridDisk(latLngToCell(45.46, 9.19, 9), 9)

/** Woods in the west, a town in the middle, fields in the east, with noise. */
function landscape(): SparseCounts {
  const random = seededRandom(3)
  const builder = new CountBuilder(cells.length)
  const names = ['building', 'field', 'shop', 'tree', 'wood']
  for (const [i, cell] of cells.entries()) {
    const east = cellToLatLng(cell)[1] - 9.19
    const kinds = east < -0.01 ? [4, 3] : east < 0.01 ? [0, 0, 2] : [1, 3]
    for (const kind of kinds) for (let n = 0; n < 1 + random() * 4; n++) builder.add(i, kind)
  }
  return builder.finish(
    names,
    Uint32Array.from(names, (_, i) => i),
  )
}

const train = (seed: number, epochs = 3): Hex2VecResult =>
  trainHex2Vec(landscape(), {
    rings: neighbourRings(cells, 2),
    layers: [32, 16, 8],
    epochs,
    batch: 32,
    learningRate: 0.001,
    seed,
  })

function meanCosine({ embeddings, dims }: Hex2VecResult, pairs: readonly (readonly [number, number])[]): number {
  const vector = (row: number): Float32Array => embeddings.subarray(row * dims, (row + 1) * dims)
  const cosines = pairs.map(([a, b]) => {
    const [u, v] = [vector(a), vector(b)]
    return u.reduce((sum, value, d) => sum + value * v[d]!, 0) / (Math.hypot(...u) * Math.hypot(...v))
  })
  return cosines.reduce((sum, value) => sum + value, 0) / cosines.length
}

describe('hex2vec', () => {
  test('learns: the loss falls, and ends well below that of guessing', () => {
    const { losses, dims, embeddings } = train(1, 10)
    expect(losses).toHaveLength(10)
    expect(losses.at(-1)).toBeLessThan(0.93 * losses[0]!)
    expect(losses.at(-1)).toBeLessThan(0.88 * Math.LN2)
    expect(dims).toBe(8)
    expect(embeddings).toHaveLength(cells.length * 8)
  })

  test('gives the same embeddings for the same seed, others for another', () => {
    expect(train(7).embeddings).toEqual(train(7).embeddings)
    expect(train(8).embeddings).not.toEqual(train(7).embeddings)
  })

  test('brings neighbours closer together than cells far apart', () => {
    const result = train(1, 10)
    const pairs = cells.flatMap((a, i) => cells.flatMap((b, j) => (i < j ? [{ i, j, far: gridDistance(a, b) }] : [])))
    const near = meanCosine(
      result,
      pairs.filter(({ far }) => far === 1).map(({ i, j }) => [i, j] as const),
    )
    const apart = meanCosine(
      result,
      pairs.filter(({ far }) => far > 2).map(({ i, j }) => [i, j] as const),
    )
    expect(near - apart).toBeGreaterThan(0.3)
  })

  test('needs neighbours and cells that are far from each other', () => {
    const few = gridDisk(cells[0]!, 1)
    const builder = new CountBuilder(few.length)
    builder.add(0, 0)
    const counts = builder.finish(['a'], Uint32Array.of(0))
    const options = { layers: [2], epochs: 1, batch: 8, learningRate: 0.1, seed: 0 }
    for (const some of [few, [few[0]!]]) {
      const rings = neighbourRings(some, 2)
      expect(() => trainHex2Vec({ ...counts, rows: some.length }, { ...options, rings })).toThrow('cannot be trained')
    }
  })
})

test('the gradients of the encoder are those of finite differences', () => {
  const counts = landscape()
  const random = seededRandom(5)
  const encoder = new Encoder(counts, [6, 5, 4], random)
  const wanted = Array.from({ length: 4 }, () => random() - 0.5)
  const memory = encoder.allocate()
  const loss = (row: number): number =>
    encoder.forward(row, memory).reduce((sum, value, d) => sum + value * wanted[d]!, 0)
  for (const row of [0, 50, 200]) {
    loss(row)
    const gradients = encoder.allocate().layers
    gradients.at(-1)!.set(wanted)
    for (const parameter of encoder.parameters) parameter.gradient.fill(0)
    encoder.backward(memory, gradients)
    for (const { value, gradient } of encoder.parameters) {
      for (let i = 0; i < value.length; i++) {
        const kept = value[i]!
        value[i] = kept + 1e-6
        const above = loss(row)
        value[i] = kept - 1e-6
        const below = loss(row)
        value[i] = kept
        expect(gradient[i]).toBeCloseTo((above - below) / 2e-6, 4)
      }
    }
  }
})
