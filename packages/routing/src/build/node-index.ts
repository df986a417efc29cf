import type { OsmReader } from '@terrane/osm'
import { UNDEFINED_COORDINATE } from '@terrane/osm'

import { tagKey, tagMap, type WayColumns } from './collect.ts'
import { Pool } from './pool.ts'
import { nodeFacts, type NodeFacts, PLAIN_NODE } from './tags/node.ts'

/** Positions of the nodes of the network. Nodes are numbered in ascending order of their ids. */
export class NodeIndex {
  /** Distinct ids, ascending. */
  readonly ids: Float64Array
  /** Degrees times 10⁷; `UNDEFINED_COORDINATE` where the file lacks the node. */
  readonly lon: Int32Array
  readonly lat: Int32Array
  /** Position of each node's facts in the pool; plain ones come first. */
  readonly #factOf: Uint32Array
  readonly #facts = new Pool<NodeFacts>()

  /** @param refs ids of nodes, any number of times each */
  constructor(refs: Float64Array) {
    this.ids = distinct(refs)
    this.lon = new Int32Array(this.ids.length).fill(UNDEFINED_COORDINATE)
    this.lat = new Int32Array(this.ids.length).fill(UNDEFINED_COORDINATE)
    this.#factOf = new Uint32Array(this.ids.length)
    this.#facts.number('', () => PLAIN_NODE)
  }

  /** Number of a node, or −1. O(log nodes). */
  find(id: number): number {
    let low = 0
    let high = this.ids.length - 1
    while (low <= high) {
      const middle = (low + high) >>> 1
      const found = this.ids[middle]!
      if (found === id) return middle
      if (found < id) low = middle + 1
      else high = middle - 1
    }
    return -1
  }

  has(node: number): boolean {
    return this.lon[node] !== UNDEFINED_COORDINATE
  }

  facts(node: number): NodeFacts {
    return this.#facts.values[this.#factOf[node]!]!
  }

  /** Second pass over the files: coordinates and tags of all nodes. */
  async load(readers: readonly OsmReader[], signal?: AbortSignal): Promise<void> {
    for (const reader of readers) {
      // Nodes are mostly in ascending order of ids, so the search starts near the last one.
      let near = 0
      await reader.read(
        ({ nodes, strings }) => {
          for (let i = 0; i < nodes.count; i++) {
            const id = nodes.ids[i]!
            near = this.#atLeast(id, near)
            if (this.ids[near] !== id || nodes.lon[i] === UNDEFINED_COORDINATE || this.has(near)) continue
            this.lon[near] = nodes.lon[i]!
            this.lat[near] = nodes.lat[i]!
            if (nodes.tagOffsets[i] === nodes.tagOffsets[i + 1]) continue
            this.#factOf[near] = this.#facts.number(tagKey(nodes, i, strings), () =>
              nodeFacts(tagMap(nodes, i, strings)),
            )
          }
        },
        { kinds: { nodes: true }, ...(signal && { signal }) },
      )
    }
  }

  /** Sets unknown coordinates of nodes from the ways of files with locations on ways. */
  locate(refs: Float64Array, { lon, lat }: NonNullable<WayColumns['located']>): void {
    for (const [i, ref] of refs.entries()) {
      const node = this.find(ref)
      if (this.has(node) || lon[i] === UNDEFINED_COORDINATE) continue
      this.lon[node] = lon[i]!
      this.lat[node] = lat[i]!
    }
  }

  /** The first node with at least this id, searched from a starting position. O(log distance). */
  #atLeast(id: number, near: number): number {
    const { ids } = this
    let low = near
    let step = 1
    if (near > 0 && ids[near - 1]! >= id) low = 0
    let high = low
    while (high < ids.length && ids[high]! < id) {
      low = high + 1
      high += step
      step *= 2
    }
    high = Math.min(high, ids.length)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ids[middle]! < id) low = middle + 1
      else high = middle
    }
    return low
  }
}

function distinct(refs: Float64Array): Float64Array {
  const all = refs.toSorted()
  let kept = 0
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[kept++] = all[i]!
  return all.slice(0, kept)
}
