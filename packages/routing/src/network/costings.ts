import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'

import { createCosting } from '../cost/create.ts'
import type { Costing } from '../cost/costing.ts'
import { type CostOptions, costOptions, type Mode, MODES } from '../cost/options.ts'
import { StateWeights } from '../states/weights.ts'
import type { CustomizeAnswer, CustomizeTask } from './customize.worker.ts'
import type { Customized, Network } from './network.ts'
import { shareNetwork } from './share.ts'
import type { TurnNetwork } from './turns.ts'

/** A costing of a network, with what is known for searching under it. */
export interface PreparedCosting {
  readonly costing: Costing
  readonly turns: TurnNetwork
  readonly weights: StateWeights
  /** Null until the hierarchy is customized. */
  readonly customized: Customized | null
}

/** Most tasks that may wait for the worker; costings beyond that stay without a hierarchy until they are asked for again. */
const MOST_WAITING = 4

/**
 * The costings that requests ask for. Those of the eight modes without options are ready from the start and stay; of the
 * others the most recently used are kept, and their hierarchies are customized in a worker thread.
 */
export class CostingStore {
  readonly #network: Network
  readonly #plain = new Map<string, PreparedCosting>()
  readonly #recent: LRUCache<string, PreparedCosting>
  readonly #waiting = new Map<string, PromiseWithResolvers<boolean>[]>()
  #worker: Worker | null = null
  #closed = false

  /** @param capacity how many costings with options are kept */
  constructor(network: Network, capacity: number) {
    this.#network = network
    this.#recent = new LRUCache({ max: capacity })
    for (const mode of MODES) {
      const options = costOptions(mode)
      this.#plain.set(keyOf(mode, options), this.#prepare(mode, options, network.metrics[mode]))
    }
  }

  /** The costing of a mode with options. Starts its customization when that has not been done. */
  get(mode: Mode, options: CostOptions): PreparedCosting {
    const key = keyOf(mode, options)
    const plain = this.#plain.get(key)
    if (plain !== undefined) return plain
    const known = this.#recent.get(key) ?? this.#prepare(mode, options, null)
    this.#recent.set(key, known)
    if (known.customized === null) this.#customize({ key, mode, options })
    return known
  }

  /**
   * Resolves when the hierarchy of a costing is ready; to false when it will not be. The process lives as long as
   * somebody waits.
   *
   * @throws what ended the worker
   */
  ready(mode: Mode, options: CostOptions): Promise<boolean> {
    if (this.get(mode, options).customized !== null) return Promise.resolve(true)
    const waiters = this.#waiting.get(keyOf(mode, options))
    if (waiters === undefined) return Promise.resolve(false)
    const waiter = Promise.withResolvers<boolean>()
    waiters.push(waiter)
    this.#worker?.ref()
    return waiter.promise
  }

  /** Whether the hierarchy of a costing is being made. */
  isComing({ costing: { mode, options } }: PreparedCosting): boolean {
    return this.#waiting.has(keyOf(mode, options))
  }

  /** Ends the worker. */
  async close(): Promise<void> {
    this.#closed = true
    // Nothing else may keep the process while the thread ends.
    this.#worker?.ref()
    await this.#worker?.terminate()
  }

  #prepare(mode: Mode, options: CostOptions, customized: Customized | null): PreparedCosting {
    const costing = createCosting(this.#network.graph, mode, options)
    const { graph, turns } = this.#network
    return { costing, turns, weights: new StateWeights(graph, turns.states, costing), customized }
  }

  #customize(task: CustomizeTask): void {
    if (this.#closed || this.#waiting.has(task.key) || this.#waiting.size >= MOST_WAITING) return
    this.#waiting.set(task.key, [])
    this.#worker ??= this.#start()
    this.#worker.postMessage(task)
  }

  #start(): Worker {
    const shared = shareNetwork(this.#network)
    const worker = new Worker(new URL('./customize.worker.ts', import.meta.url), { workerData: { shared } })
    worker.on('message', ({ key, up, down, leastWeight }: CustomizeAnswer) => {
      const known = this.#recent.peek(key)
      if (known !== undefined) {
        const { topology } = this.#network.turns
        this.#recent.set(key, { ...known, customized: { metric: { topology, up, down }, leastWeight } })
      }
      this.#settle(key, known !== undefined)
    })
    // A worker that dies takes its tasks along; the next request for one of them starts another.
    worker.on('error', (error) => {
      worker.removeAllListeners('message')
      for (const waiter of [...this.#waiting.values()].flat()) waiter.reject(error)
    })
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null
      for (const key of this.#waiting.keys()) this.#settle(key, false)
    })
    // It must not keep the process from ending; listeners do, so this comes last.
    worker.unref()
    return worker
  }

  #settle(key: string, ready: boolean): void {
    const waiters = this.#waiting.get(key) ?? []
    this.#waiting.delete(key)
    for (const { resolve } of waiters) resolve(ready)
    // Whoever closes the store waits for the thread, whatever it still sends.
    if (!this.#closed && ![...this.#waiting.values()].some((others) => others.length > 0)) this.#worker?.unref()
  }
}

function keyOf(mode: Mode, options: CostOptions): string {
  return `${mode} ${JSON.stringify(options)}`
}
