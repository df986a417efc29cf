import { seededRandom } from '@terrane/core'

import { type ArcGraph, type ArcWeights, UNREACHABLE } from '../../src/search/search.ts'

/** A graph with weights and places. */
export interface Case {
  readonly graph: ArcGraph
  readonly weights: ArcWeights
  readonly xyz: Float32Array
}

/** A random directed graph: points in a square, arcs to some neighbours, a few closed, some parallel, some one-way. */
export function randomCase(seed: number, vertexCount: number): Case {
  const random = seededRandom(seed)
  const pick = (n: number): number => Math.floor(random() * n)
  const xyz = Float32Array.from({ length: 3 * vertexCount }, (_, i) => (i % 3 === 2 ? 0 : random() * 1000))
  const heads: number[][] = Array.from({ length: vertexCount }, () => [])
  for (let vertex = 0; vertex < vertexCount; vertex++) {
    const degree = pick(5)
    for (let i = 0; i < degree; i++) {
      const other = Math.max(0, Math.min(vertexCount - 1, vertex + pick(21) - 10))
      heads[vertex]!.push(other)
      if (random() < 0.5) heads[other]!.push(vertex)
    }
  }
  const firstOut = new Uint32Array(vertexCount + 1)
  for (let v = 0; v < vertexCount; v++) firstOut[v + 1] = firstOut[v]! + heads[v]!.length
  const head = Uint32Array.from(heads.flat())
  const weights = new Int32Array(head.length)
  for (let v = 0; v < vertexCount; v++) {
    for (let arc = firstOut[v]!; arc < firstOut[v + 1]!; arc++) {
      const length = Math.hypot(xyz[3 * v]! - xyz[3 * head[arc]!]!, xyz[3 * v + 1]! - xyz[3 * head[arc]! + 1]!)
      weights[arc] = random() < 0.05 ? UNREACHABLE : Math.ceil(length * 3 * (1 + random()))
    }
  }
  return { graph: { vertexCount, firstOut, head }, weights, xyz }
}

/** Numbers from zero on in a random order. */
export function shuffled(count: number, seed: number): Uint32Array {
  const random = seededRandom(seed)
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[order[i], order[j]] = [order[j]!, order[i]!]
  }
  return order
}

/** Sizes of random graphs from 9 to 165 vertices, small and large ones in turn. */
export function sizeOf(seed: number): number {
  return 9 + ((seed * 17) % 40) * 4
}
