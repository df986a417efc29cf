import { type ArcGraph, type ArcWeights, UNREACHABLE } from '../search.ts'
import type { CustomizedArcs, SearchArcs } from './arcs.ts'
import { find, type HierarchyTopology, type UpperArcs } from './topology.ts'

/** A hierarchy with weights, ready for queries. `up` leads away from a rank, `down` leads towards it. */
export interface HierarchyMetric {
  readonly topology: UpperArcs
  readonly up: SearchArcs
  readonly down: SearchArcs
}

/**
 * Computes the weights of a hierarchy: basic customization from the bottom up, then perfect customization from the top
 * down, which drops the arcs that no cheapest path needs. The arcs are not packed yet.
 *
 * O(arcs · upper neighbours), a fraction of a second per million arcs.
 */
export function customizedArcs(
  topology: HierarchyTopology,
  graph: ArcGraph,
  weights: ArcWeights,
): { readonly up: CustomizedArcs; readonly down: CustomizedArcs } {
  const arcs = topology.firstUp.at(-1)!
  const up = new Int32Array(arcs).fill(UNREACHABLE)
  const down = new Int32Array(arcs).fill(UNREACHABLE)
  const upMiddle = new Int32Array(arcs)
  const downMiddle = new Int32Array(arcs)
  putWeights(topology, graph, weights, { up, down })
  relaxLowerTriangles(topology, { up, down, upMiddle, downMiddle })
  const lowered = { up: bitsFor(arcs), down: bitsFor(arcs) }
  relaxUpperTriangles(topology, { up, down }, lowered)
  drop(up, lowered.up)
  drop(down, lowered.down)
  return { up: { weight: up, middle: upMiddle }, down: { weight: down, middle: downMiddle } }
}

interface BasicWeights {
  readonly up: Int32Array
  readonly down: Int32Array
  /** Distance of the bypassed rank below the lower rank of an arc; 0 for an arc of the input graph. */
  readonly upMiddle: Int32Array
  readonly downMiddle: Int32Array
}

/**
 * Copies weights of the input graph to the arcs of the topology. Loops are left out, because no cheapest path has one.
 */
function putWeights(
  { rank, firstUp, firstHead, upHead }: HierarchyTopology,
  { firstOut, head, vertexCount }: ArcGraph,
  weights: ArcWeights,
  { up, down }: Pick<BasicWeights, 'up' | 'down'>,
): void {
  for (let tail = 0; tail < vertexCount; tail++) {
    const from = rank[tail]!
    for (let arc = firstOut[tail]!; arc < firstOut[tail + 1]!; arc++) {
      const to = rank[head[arc]!]!
      if (from === to || weights[arc]! >= UNREACHABLE) continue
      const low = Math.min(from, to)
      const first = firstHead[low]!
      const count = firstUp[low + 1]! - firstUp[low]!
      const at = firstUp[low]! + find(upHead, first, first + count, Math.max(from, to)) - first
      const side = from < to ? up : down
      if (weights[arc]! < side[at]!) side[at] = weights[arc]!
    }
  }
}

function relaxLowerTriangles({ firstUp, firstHead, upHead }: UpperArcs, weights: BasicWeights): void {
  const { up, down, upMiddle, downMiddle } = weights
  const count = firstUp.length - 1
  for (let v = 0; v < count; v++) {
    const end = firstUp[v + 1]!
    const toHead = firstHead[v]! - firstUp[v]!
    for (let i = firstUp[v]!; i + 1 < end; i++) {
      const toX = up[i]!
      const fromX = down[i]!
      if (toX >= UNREACHABLE && fromX >= UNREACHABLE) continue
      const x = upHead[i + toHead]!
      const below = x - v
      let k = firstUp[x]!
      const toHeadOfX = firstHead[x]! - k
      for (let j = i + 1; j < end; j++) {
        const y = upHead[j + toHead]!
        while (upHead[k + toHeadOfX]! < y) k++
        const xToY = (fromX + up[j]!) | 0
        const yToX = (down[j]! + toX) | 0
        if (xToY < up[k]!) {
          up[k] = xToY
          upMiddle[k] = below
        }
        if (yToX < down[k]!) {
          down[k] = yToX
          downMiddle[k] = below
        }
      }
    }
  }
}

/** Lowers arcs to the cheapest paths over higher ranks, and sets a bit for each changed one. */
function relaxUpperTriangles(
  { firstUp, firstHead, upHead }: UpperArcs,
  { up, down }: Pick<BasicWeights, 'up' | 'down'>,
  lowered: { readonly up: Uint32Array; readonly down: Uint32Array },
): void {
  for (let v = firstUp.length - 2; v >= 0; v--) {
    const end = firstUp[v + 1]!
    const toHead = firstHead[v]! - firstUp[v]!
    for (let i = firstUp[v]!; i + 1 < end; i++) {
      const x = upHead[i + toHead]!
      let k = firstUp[x]!
      const toHeadOfX = firstHead[x]! - k
      // The weights of the arc to `x` are written once, after the loop.
      let toX = up[i]!
      let fromX = down[i]!
      for (let j = i + 1; j < end; j++) {
        const y = upHead[j + toHead]!
        while (upHead[k + toHeadOfX]! < y) k++
        const xToY = up[k]!
        const yToX = down[k]!
        const toY = up[j]!
        const fromY = down[j]!
        // Weights are bounded, so sums fit into 32 bits; `| 0` avoids a check for overflow.
        const toYOverX = (toX + xToY) | 0
        const toXOverY = (toY + yToX) | 0
        const fromYOverX = (fromX + yToX) | 0
        const fromXOverY = (fromY + xToY) | 0
        if (toYOverX < toY) lower(up, lowered.up, j, toYOverX)
        else if (toXOverY < toX) toX = toXOverY
        if (fromYOverX < fromY) lower(down, lowered.down, j, fromYOverX)
        else if (fromXOverY < fromX) fromX = fromXOverY
      }
      if (toX < up[i]!) lower(up, lowered.up, i, toX)
      if (fromX < down[i]!) lower(down, lowered.down, i, fromX)
    }
  }
}

function lower(weights: Int32Array, lowered: Uint32Array, arc: number, weight: number): void {
  weights[arc] = weight
  lowered[arc >>> 5]! |= 1 << (arc & 31)
}

/** Drops arcs that are on no cheapest path. */
function drop(weights: Int32Array, lowered: Uint32Array): void {
  for (let arc = 0; arc < weights.length; arc++) {
    if (((lowered[arc >>> 5]! >>> (arc & 31)) & 1) === 1) weights[arc] = UNREACHABLE
  }
}

/** A bit array for `arcs` arcs. */
function bitsFor(arcs: number): Uint32Array {
  return new Uint32Array(Math.ceil(arcs / 32))
}
