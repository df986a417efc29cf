import type { OsmReader } from '@terrane/osm'
import { UNDEFINED_COORDINATE } from '@terrane/osm'

import { type CollectedWay, tagMap } from './collect.ts'
import { nodeFacts, type NodeFacts, PLAIN_NODE } from './tags/node.ts'

/** Where the nodes of the network are. Nodes are numbered in ascending order of their ids. */
export class NodeIndex {
  /** Distinct ids, ascending. */
  readonly ids: Float64Array
  /** Degrees times 10⁷; `UNDEFINED_COORDINATE` where the file lacks the node. */
  readonly lon: Int32Array
  readonly lat: Int32Array
  readonly #facts = new Map<number, NodeFacts>()

  readonly #ways: readonly CollectedWay[]

  constructor(ways: readonly CollectedWay[]) {
    this.#ways = ways
    this.ids = distinct(ways.map((way) => way.refs))
    this.lon = new Int32Array(this.ids.length).fill(UNDEFINED_COORDINATE)
    this.lat = new Int32Array(this.ids.length).fill(UNDEFINED_COORDINATE)
  }

  /** Number of a node, or −1. O(log nodes). */
  find(id: number): number {
    let low = 0
    let high = this.ids.length - 1
    while (low <= high) {
      const middle = (low + high) >> 1
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
    return this.#facts.get(node) ?? PLAIN_NODE
  }

  /**
   * Second pass over the files: coordinates of all nodes and the tags of those that have some. What the files keep on
   * their ways only comes from there.
   */
  async load(readers: readonly OsmReader[], signal?: AbortSignal): Promise<void> {
    for (const reader of readers) {
      await reader.read(
        ({ nodes, strings }) => {
          for (let i = 0; i < nodes.count; i++) {
            const node = this.find(nodes.ids[i]!)
            if (node < 0 || nodes.lon[i] === UNDEFINED_COORDINATE || this.has(node)) continue
            this.lon[node] = nodes.lon[i]!
            this.lat[node] = nodes.lat[i]!
            if (nodes.tagOffsets[i] === nodes.tagOffsets[i + 1]) continue
            this.#facts.set(node, nodeFacts(tagMap(nodes, i, strings)))
          }
        },
        { kinds: { nodes: true }, ...(signal && { signal }) },
      )
    }
    for (const way of this.#ways) if (way.located) this.#locate(way.refs, way.located)
  }

  #locate(refs: Float64Array, { lon, lat }: NonNullable<CollectedWay['located']>): void {
    for (const [i, ref] of refs.entries()) {
      const node = this.find(ref)
      if (this.has(node) || lon[i] === UNDEFINED_COORDINATE) continue
      this.lon[node] = lon[i]!
      this.lat[node] = lat[i]!
    }
  }
}

function distinct(refs: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(refs.reduce((sum, list) => sum + list.length, 0))
  let size = 0
  for (const list of refs) {
    all.set(list, size)
    size += list.length
  }
  all.sort()
  let kept = 0
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[kept++] = all[i]!
  return all.slice(0, kept)
}
