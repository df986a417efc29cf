import type { ArcGraph } from '../search.ts'
import { postorder } from './postorder.ts'

/** The part of a topology that queries read. */
export interface UpperArcs {
  /** Arcs of a rank to higher ones: `firstUp[r] … firstUp[r + 1] - 1`. */
  readonly firstUp: Uint32Array
  /**
   * Start of the heads of a rank's arcs in `upHead`, in ascending order; the first is the parent in the elimination
   * tree. A list that consists of the parent and the parent's list shares its memory (supernodes: George and Liu,
   * 1981).
   */
  readonly firstHead: Uint32Array
  readonly upHead: Uint32Array
}

/**
 * The part of a customizable contraction hierarchy that does not depend on weights: vertices renumbered by rank, and
 * every arc that contraction in rank order can need. Each arc of the topology joins a lower to a higher rank and
 * carries a weight in both directions. Ranks are a postorder of the elimination tree: the ranks below one come directly
 * before it.
 *
 * Dibbelt, Strasser, Wagner: "Customizable Contraction Hierarchies", 2016.
 */
export interface HierarchyTopology extends UpperArcs {
  /** Rank of each vertex of the input graph. */
  readonly rank: Uint32Array
  /** Vertex of each rank. */
  readonly vertex: Uint32Array
}

/**
 * Contracts the vertices of a graph in an order that gives the same arcs as the given one. O(size of the result) with
 * sorting.
 */
export function contract(graph: ArcGraph, order: Uint32Array): HierarchyTopology {
  const count = graph.vertexCount
  const rank = postorder(upperNeighbours(graph, order), order)
  const vertex = new Uint32Array(count)
  for (let v = 0; v < count; v++) vertex[rank[v]!] = v
  const neighbours = upperNeighbours(graph, rank)
  // Children of a rank in the elimination tree, as linked lists: their upper arcs are inherited.
  const firstChild = new Int32Array(count).fill(-1)
  const sibling = new Int32Array(count).fill(-1)
  const seen = new Int32Array(count).fill(-1)
  const firstUp = new Uint32Array(count + 1)
  let upHead = new Uint32Array(graph.head.length * 4 + 16)
  let size = 0
  for (let r = 0; r < count; r++) {
    firstUp[r] = size
    const most = upperBound(r)
    if (size + most > upHead.length) {
      const grown = new Uint32Array(Math.max(upHead.length * 2, size + most))
      grown.set(upHead)
      upHead = grown
    }
    for (let i = neighbours.first[r]!; i < neighbours.first[r + 1]!; i++) add(neighbours.rank[i]!, r)
    for (let child = firstChild[r]!; child >= 0; child = sibling[child]!) {
      for (let i = firstUp[child]! + 1; i < firstUp[child + 1]!; i++) add(upHead[i]!, r)
    }
    sortRange(upHead, firstUp[r]!, size)
    if (size > firstUp[r]!) {
      const parent = upHead[firstUp[r]!]!
      sibling[r] = firstChild[parent]!
      firstChild[parent] = r
    }
    firstUp[r + 1] = size
  }
  return { rank, vertex, firstUp, ...sharedHeads(firstUp, upHead) }

  function upperBound(r: number): number {
    let bound = neighbours.first[r + 1]! - neighbours.first[r]!
    for (let child = firstChild[r]!; child >= 0; child = sibling[child]!) {
      bound += firstUp[child + 1]! - firstUp[child]! - 1
    }
    return bound
  }

  function add(neighbour: number, r: number): void {
    if (seen[neighbour] === r) return
    seen[neighbour] = r
    upHead[size++] = neighbour
  }
}

/** Lists of heads; a list that is the end of a longer one shares its memory. */
function sharedHeads(firstUp: Uint32Array, heads: Uint32Array): Pick<UpperArcs, 'firstHead' | 'upHead'> {
  const count = firstUp.length - 1
  const size = (r: number): number => firstUp[r + 1]! - firstUp[r]!
  // The child whose list contains that of its parent.
  const holder = new Int32Array(count).fill(-1)
  for (let r = 0; r < count; r++) {
    if (size(r) === 0) continue
    const parent = heads[firstUp[r]!]!
    if (size(r) === size(parent) + 1) holder[parent] = r
  }
  const firstHead = new Uint32Array(count)
  let total = 0
  for (let r = 0; r < count; r++) if (holder[r]! < 0) total += size(r)
  const upHead = new Uint32Array(total)
  let next = 0
  for (let r = 0; r < count; r++) {
    if (holder[r]! >= 0) {
      firstHead[r] = firstHead[holder[r]!]! + 1
      continue
    }
    firstHead[r] = next
    for (let i = firstUp[r]!; i < firstUp[r + 1]!; i++) upHead[next++] = heads[i]!
  }
  return { firstHead, upHead }
}

/** The arc between a rank and a higher one, which must exist. */
export function arcBetween({ firstUp, firstHead, upHead }: UpperArcs, low: number, high: number): number {
  const first = firstHead[low]!
  const begin = firstUp[low]!
  return begin + find(upHead, first, first + firstUp[low + 1]! - begin, high) - first
}

/** For each rank, the higher ranks that it has an arc with, in either direction; may repeat. */
function upperNeighbours(graph: ArcGraph, rank: Uint32Array): { first: Uint32Array; rank: Uint32Array } {
  const first = new Uint32Array(graph.vertexCount + 1)
  forEachArc(graph, (tail, head) => {
    if (tail !== head) first[Math.min(rank[tail]!, rank[head]!) + 1]!++
  })
  for (let r = 0; r < graph.vertexCount; r++) first[r + 1]! += first[r]!
  const next = first.slice()
  const list = new Uint32Array(first[graph.vertexCount]!)
  forEachArc(graph, (tail, head) => {
    if (tail === head) return
    list[next[Math.min(rank[tail]!, rank[head]!)]!++] = Math.max(rank[tail]!, rank[head]!)
  })
  return { first, rank: list }
}

function forEachArc(graph: ArcGraph, visit: (tail: number, head: number, arc: number) => void): void {
  for (let tail = 0; tail < graph.vertexCount; tail++) {
    for (let arc = graph.firstOut[tail]!; arc < graph.firstOut[tail + 1]!; arc++) visit(tail, graph.head[arc]!, arc)
  }
}

/** Position of a value in an ascending range that contains it. */
export function find(values: Uint32Array, begin: number, end: number, value: number): number {
  let low = begin
  let high = end - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Most ranges are short, and for those insertion sort is faster than the library's sort. */
function sortRange(values: Uint32Array, begin: number, end: number): void {
  if (end - begin > 40) {
    values.subarray(begin, end).sort()
    return
  }
  for (let i = begin + 1; i < end; i++) {
    const value = values[i]!
    let j = i
    for (; j > begin && values[j - 1]! > value; j--) values[j] = values[j - 1]!
    values[j] = value
  }
}
