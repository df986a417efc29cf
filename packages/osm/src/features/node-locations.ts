import type { NodeColumns } from '../block.ts'
import { osmTooLarge } from '../errors.ts'
import { NodeIndex } from './node-index.ts'
import { NODES_SHARE, NODE_BYTES } from './spill.ts'
import type { Spill } from './spill.ts'
import { SpilledNodes } from './spilled-nodes.ts'

/** Finds nodes by id: a row, -1 when it is absent, and the location of the row that was found last. */
export type NodeLookup = Pick<NodeIndex, 'find' | 'lon' | 'lat'>

export interface NodeLimits {
  /** Most nodes to keep. 2^28 when absent. */
  readonly maxNodes?: number
  /** Expected number of nodes, so that memory is allocated once. */
  readonly expectedNodes?: number
  /** Without it all nodes stay in memory. */
  readonly spill?: Spill
}

/** Keeps the locations of nodes, in any order: in memory as long as they fit, then in a temporary file. */
export class NodeLocations {
  readonly #index: NodeIndex
  readonly #maxNodes: number
  readonly #spill: Spill | null
  readonly #mostRows: number
  #spilled: SpilledNodes | null = null
  #count = 0

  constructor({ maxNodes = 2 ** 28, expectedNodes = 0, spill }: NodeLimits) {
    this.#maxNodes = maxNodes
    this.#spill = spill ?? null
    this.#mostRows = spill ? Math.floor((spill.memoryBytes * NODES_SHARE) / NODE_BYTES) : Infinity
    this.#index = new NodeIndex(Math.min(expectedNodes, this.#mostRows))
  }

  /** Adds the located nodes of a block. @throws OSM_TOO_LARGE beyond the limit, what the temporary file throws */
  add(nodes: NodeColumns): void {
    this.#count += nodes.count
    if (this.#count > this.#maxNodes) {
      throw osmTooLarge({ what: 'The number of nodes', size: this.#count, limit: this.#maxNodes })
    }
    if (this.#index.size > 0 && this.#index.size + nodes.count > this.#mostRows) this.#spillIndex()
    this.#index.add(nodes)
  }

  /** Ends adding. The last of several nodes with one id counts. */
  finish(): NodeLookup {
    if (!this.#spilled) {
      this.#index.finish()
      return this.#index
    }
    this.#spillIndex()
    this.#index.clear()
    this.#spilled.finish(this.#spill!.memoryBytes * NODES_SHARE)
    return this.#spilled
  }

  [Symbol.dispose](): void {
    this.#spilled?.[Symbol.dispose]()
  }

  #spillIndex(): void {
    this.#spilled ??= new SpilledNodes(this.#spill!.openScratch())
    this.#index.finish()
    this.#spilled.add(this.#index)
    this.#index.restart()
  }
}
