import type { Network, SentAnswer } from '@terrane/routing'
import { ANSWERS, Refusal } from '../errors.ts'
import type { WorkAction } from './desk.ts'
import { Pool, type PoolOptions } from './pool.ts'
import type { WorkAnswer } from './work.ts'

/** Answers requests with the current network, and replaces it while running. */
export class Engine implements AsyncDisposable {
  readonly #options: PoolOptions
  readonly #retiring = new Set<Promise<void>>()
  #pool: Pool | null = null

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** The current network; null before the first one. */
  get network(): Network | null {
    return this.#pool?.network ?? null
  }

  /** Number of requests that wait for a thread. */
  get waiting(): number {
    return this.#pool?.waiting ?? 0
  }

  /** Uses another network for new requests. Earlier requests are answered with the former one. */
  async swap(network: Network, builtAt: Date | null = null): Promise<void> {
    const next = await Pool.open(network, this.#options, builtAt)
    const before = this.#pool
    this.#pool = next
    if (before === null) return
    const retiring = before.close().finally(() => this.#retiring.delete(retiring))
    this.#retiring.add(retiring)
  }

  /**
   * Answers the text of a request with the text of a response.
   *
   * @throws Refusal when there is no graph yet, too many requests wait or the answer took too long; RouteProblem 199
   * when the computation failed
   */
  async answer(text: string, isWanted?: () => boolean): Promise<SentAnswer> {
    if (this.#pool === null) throw new Refusal(ANSWERS.starting)
    return this.#pool.answer(text, isWanted)
  }

  /**
   * Answers a request for something that takes longer than a route, whole or as a stream.
   *
   * @param signal ends the work when the caller is gone
   * @throws what `answer` does
   */
  async work(action: WorkAction, text: string, signal: AbortSignal): Promise<WorkAnswer> {
    if (this.#pool === null) throw new Refusal(ANSWERS.starting)
    return this.#pool.work(action, text, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#pool?.close(), ...this.#retiring])
  }
}
