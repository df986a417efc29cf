import { Thread } from '@terrane/core/threads'
import { LRUCache } from 'lru-cache'

import { createCosting } from '../cost/create.ts'
import type { Costing } from '../cost/costing.ts'
import { type CostOptions, costOptions, type Mode, MODES } from '../cost/options.ts'
import { StateWeights } from '../states/weights.ts'
import type { CustomizeAnswer, CustomizeMethods, CustomizeTask } from './customize.worker.ts'
import type { Customized, Network } from './network.ts'
import { shareNetwork } from './share.ts'
import type { TurnNetwork } from './turns.ts'

/** A costing of a network, with the data for searching under it. */
export interface PreparedCosting {
  readonly costing: Costing
  readonly turns: TurnNetwork
  readonly weights: StateWeights
  /** Null until the hierarchy is customized. */
  readonly customized: Customized | null
}

/**
 * Maximum number of tasks that wait for the worker; further costings stay without a hierarchy until their next request.
 */
const MOST_WAITING = 4

/**
 * Cache of the costings of requests. The eight modes without options are always in the cache; of the others the most
 * recently used are kept, and a worker thread customizes their hierarchies.
 */
export class CostingStore {
  readonly #network: Network
  readonly #plain = new Map<string, PreparedCosting>()
  /** The same costings by their options object, which all requests without options share. */
  readonly #usual = new Map<CostOptions, PreparedCosting>()
  readonly #recent: LRUCache<string, PreparedCosting>
  readonly #waiting = new Map<string, PromiseWithResolvers<boolean>[]>()
  #thread: Thread<CustomizeMethods> | null = null
  #closed = false

  /** @param capacity maximum number of cached costings with options */
  constructor(network: Network, capacity: number) {
    this.#network = network
    this.#recent = new LRUCache({ max: capacity })
    for (const mode of MODES) {
      const options = costOptions(mode)
      const prepared = this.#prepare(mode, options, network.metrics[mode])
      this.#plain.set(keyOf(mode, options), prepared)
      this.#usual.set(options, prepared)
    }
  }

  /** The costing of a mode with options. Starts its customization if necessary. */
  get(mode: Mode, options: CostOptions): PreparedCosting {
    const shared = this.#usual.get(options)
    if (shared?.costing.mode === mode) return shared
    const key = keyOf(mode, options)
    const plain = this.#plain.get(key)
    if (plain !== undefined) return plain
    const known = this.#recent.get(key) ?? this.#prepare(mode, options, null)
    this.#recent.set(key, known)
    if (known.customized === null) this.#customize({ key, mode, options })
    return known
  }

  /**
   * Resolves to true when the hierarchy of a costing is ready, to false when it will not be. The process stays alive
   * while a caller waits.
   *
   * @throws the error that ended the thread
   */
  ready(mode: Mode, options: CostOptions): Promise<boolean> {
    if (this.get(mode, options).customized !== null) return Promise.resolve(true)
    const waiters = this.#waiting.get(keyOf(mode, options))
    if (waiters === undefined) return Promise.resolve(false)
    const waiter = Promise.withResolvers<boolean>()
    waiters.push(waiter)
    this.#thread?.ref()
    return waiter.promise
  }

  /** Whether the hierarchy of a costing is being prepared. */
  isComing({ costing: { mode, options } }: PreparedCosting): boolean {
    return this.#waiting.has(keyOf(mode, options))
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    this.#closed = true
    // Keeps the process alive until the thread has ended.
    this.#thread?.ref()
    await this.#thread?.[Symbol.asyncDispose]()
  }

  #prepare(mode: Mode, options: CostOptions, customized: Customized | null): PreparedCosting {
    const costing = createCosting(this.#network.graph, mode, options)
    const { graph, turns } = this.#network
    return { costing, turns, weights: new StateWeights(graph, turns.states, costing), customized }
  }

  #customize(task: CustomizeTask): void {
    if (this.#closed || this.#waiting.has(task.key) || this.#waiting.size >= MOST_WAITING) return
    this.#waiting.set(task.key, [])
    if (this.#thread === null || this.#thread.hasEnded) this.#thread = this.#start()
    void this.#await(task.key, this.#thread.call('customize', task))
  }

  async #await(key: string, coming: Promise<CustomizeAnswer>): Promise<void> {
    try {
      const { up, down, leastWeight } = await coming
      const known = this.#recent.peek(key)
      if (known !== undefined) {
        const { topology } = this.#network.turns
        this.#recent.set(key, { ...known, customized: { metric: { topology, up, down }, leastWeight } })
      }
      this.#settle(key, known !== undefined)
    } catch (error) {
      if (!this.#closed) for (const waiter of this.#waiting.get(key) ?? []) waiter.reject(error)
      this.#settle(key, false)
    }
  }

  #start(): Thread<CustomizeMethods> {
    const thread = new Thread<CustomizeMethods>(new URL('./customize.worker.ts', import.meta.url), {
      setup: shareNetwork(this.#network),
      toLostError: toCustomizeError,
      toError: toCustomizeError,
    })
    thread.unref()
    return thread
  }

  #settle(key: string, ready: boolean): void {
    const waiters = this.#waiting.get(key) ?? []
    this.#waiting.delete(key)
    for (const { resolve } of waiters) resolve(ready)
    // While the store is closing, messages from the thread must not release the process.
    if (!this.#closed && ![...this.#waiting.values()].some((others) => others.length > 0)) this.#thread?.unref()
  }
}

function toCustomizeError(why: string): Error {
  return new Error(`a costing could not be customized: ${why}`)
}

function keyOf(mode: Mode, options: CostOptions): string {
  return `${mode} ${JSON.stringify(options)}`
}
