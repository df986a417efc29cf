import type { ArcGraph } from '../search.ts'

/**
 * The part of a customizable contraction hierarchy that no weight changes: vertices renamed to their ranks, and between
 * them every arc that contraction in rank order can need. Each arc of the topology joins a lower to a higher rank and
 * carries a weight in both directions.
 *
 * Dibbelt, Strasser, Wagner: "Customizable Contraction Hierarchies", 2016.
 */
export interface HierarchyTopology {
  /** Rank of each vertex of the input graph. */
  readonly rank: Uint32Array
  /** Vertex of each rank. */
  readonly vertex: Uint32Array
  /** Upper arcs of a rank: `upHead[firstUp[r]] … upHead[firstUp[r + 1] - 1]`, ascending. The first is the parent in the elimination tree. */
  readonly firstUp: Uint32Array
  readonly upHead: Uint32Array
  /** For each arc of the input graph its topology arc, times two, plus one when the input arc leads downwards. */
  readonly slot: Uint32Array
}

/** Contracts the vertices of a graph in the order of their ranks. O(size of the result) with sorting. */
export function contract(graph: ArcGraph, rank: Uint32Array): HierarchyTopology {
  const count = graph.vertexCount
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
  const heads = upHead.slice(0, size)
  return { rank, vertex, firstUp, upHead: heads, slot: slotsOf(graph, rank, firstUp, heads) }

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

/** For each rank the higher ranks that an arc joins it with, in either direction; may repeat. */
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

function slotsOf(graph: ArcGraph, rank: Uint32Array, firstUp: Uint32Array, upHead: Uint32Array): Uint32Array {
  const slot = new Uint32Array(graph.head.length)
  forEachArc(graph, (tail, head, arc) => {
    const from = rank[tail]!
    const to = rank[head]!
    // A loop is on no cheapest path; it has no place in the hierarchy.
    if (from === to) {
      slot[arc] = NO_SLOT
      return
    }
    const low = Math.min(from, to)
    const at = find(upHead, firstUp[low]!, firstUp[low + 1]!, Math.max(from, to))
    slot[arc] = 2 * at + (from < to ? 0 : 1)
  })
  return slot
}

/** Marks an input arc that the hierarchy leaves out. */
export const NO_SLOT = 0xffffffff

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
    const middle = (low + high) >> 1
    if (values[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Short ranges dominate here, and for those insertion beats the library's sort. */
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
