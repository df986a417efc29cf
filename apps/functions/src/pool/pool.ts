import type { Capacity, Tenant } from './capacity.ts'
import { BootFailure, type Exit } from './exit.ts'
import type { Instance } from './instance.ts'
import { BACKOFF_MS, StartBackoff } from './start-backoff.ts'
import type { Refusal, Waiter } from './waiter.ts'

export interface PoolEvents {
  started(instance: Instance, bootMs: number): void
  bootFailed(failure: BootFailure): void
  exited(instance: Instance, exit: Exit): void
}

export interface PoolOptions {
  readonly concurrency: number
  readonly min: number
  readonly max: number
  readonly idleMs: number
  /** Starts one instance of this version. */
  readonly start: () => Promise<Instance>
  readonly capacity: Capacity
  readonly events: PoolEvents
}

const QUEUE_LIMIT = 256

/** The instances of one function version: started on demand, shared by requests, replaced when they die. */
export class Pool implements Tenant {
  readonly #options: PoolOptions
  readonly #instances: Instance[] = []
  /** Every process that runs, ready or not. */
  readonly #running = new Set<Instance>()
  readonly #queue: { readonly waiter: Waiter; cancelled: boolean }[] = []
  #starting = 0
  readonly #backoff = new StartBackoff()
  #why: Refusal['why'] = 'boot'
  #retired = false
  #stopped = false
  readonly #emptied = Promise.withResolvers<void>()

  constructor(options: PoolOptions) {
    this.#options = options
    options.capacity.join(this)
  }

  get size(): number {
    return this.#instances.length
  }

  get queued(): number {
    return this.#queue.length
  }

  [Symbol.iterator](): Iterator<Instance> {
    return this.#instances.values()
  }

  /** Resolves once a retired pool has no instance and no request left. */
  get empty(): Promise<void> {
    return this.#emptied.promise
  }

  /**
   * Hands an instance to the waiter, now or when one is free. Returns a function that removes the waiter from the
   * queue.
   */
  acquire(waiter: Waiter): () => void {
    const instance = this.#leastLoaded()
    if (instance) {
      waiter.granted(instance)
      return nothing
    }
    const retryMs = this.#backoff.remainingMs
    if (this.#instances.length === 0 && this.#starting === 0 && retryMs > 0) {
      waiter.refused({ why: this.#why, retryMs })
      return nothing
    }
    if (this.#stopped || this.#queue.length >= QUEUE_LIMIT + this.#unused) {
      waiter.refused({ why: 'busy', retryMs: 1000 })
      return nothing
    }
    const place = { waiter, cancelled: false }
    this.#queue.push(place)
    this.#extend()
    return () => (place.cancelled = true)
  }

  /** Called when a request has left the instance; `served` when the function has answered it. */
  released(served: boolean): void {
    if (served) this.#backoff.reset()
    this.#serveQueue()
    if (this.#retired) this.#drain()
  }

  /** Starts one instance even if no request waits, and resolves when it is ready. @throws BootFailure */
  async warm(): Promise<void> {
    await this.#launch()
  }

  /** Stops keeping idle instances: they end as soon as they have no work. */
  retire(): void {
    this.#retired = true
    this.#drain()
  }

  /**
   * Ends all instances at once, starting ones included, and starts no more. The pool becomes empty without further
   * calls of `check`.
   */
  stop(): void {
    this.#retired = true
    this.#stopped = true
    for (const place of this.#queue.splice(0)) place.waiter.refused({ why: 'busy', retryMs: 1000 })
    for (const instance of this.#running) instance.kill('stopped')
    this.#drain()
  }

  spare(): Instance | null {
    // The place of a killed instance is free already.
    const unused = this.#instances.filter((instance) => !instance.working && !instance.isKilled)
    const dismissed = unused.find(({ exitReason }) => exitReason !== null)
    if (dismissed) return dismissed
    if (this.#queue.length > 0 || this.#staying <= this.#options.min) return null
    let oldest: Instance | null = null
    for (const instance of unused) if (!oldest || instance.usedAt < oldest.usedAt) oldest = instance
    return oldest
  }

  /** The host's tick: watches every instance, ends idle ones, and gives up on requests that waited too long. */
  check(now: number, lateMs: number): void {
    for (const instance of this.#instances) instance.check(now, lateMs)
    for (const instance of this.#instances) {
      if (instance.working) continue
      if (instance.retiring || this.#retired) instance.dismiss('replaced')
      else if (now - instance.usedAt > this.#options.idleMs && this.#staying > this.#options.min)
        instance.dismiss('idle')
    }
    for (let at = this.#queue.length - 1; at >= 0; at--) {
      const { waiter, cancelled } = this.#queue[at]!
      if (!cancelled && now <= waiter.deadline) continue
      this.#queue.splice(at, 1)
      if (!cancelled) waiter.refused({ why: this.#instances.length > 0 ? 'busy' : 'late', retryMs: 1000 })
    }
    this.#extend()
    if (this.#retired) this.#drain()
  }

  #leastLoaded(): Instance | null {
    let best: Instance | null = null
    for (const instance of this.#instances) {
      if (!instance.accepting || instance.inflight >= Math.min(instance.window, this.#options.concurrency)) continue
      if (!best || instance.inflight < best.inflight) best = instance
    }
    return best
  }

  #serveQueue(): void {
    while (this.#queue.length > 0) {
      const instance = this.#leastLoaded()
      if (!instance) return this.#extend()
      const place = this.#queue.shift()!
      if (!place.cancelled) place.waiter.granted(instance)
    }
  }

  /** Number of instances that are not about to end. An instance that only finishes its calls does not count. */
  get #staying(): number {
    return this.#instances.filter(({ exitReason, retiring }) => exitReason === null && !retiring).length
  }

  /** Number of further calls that the concurrency of the policy allows on the instances. */
  get #unused(): number {
    let unused = 0
    for (const { accepting, inflight } of this.#instances)
      if (accepting) unused += Math.max(0, this.#options.concurrency - inflight)
    return unused
  }

  /** Finds capacity for the queue: pings instances at their limit, and starts others where needed. */
  #extend(): void {
    if (this.#queue.length > 0) for (const instance of this.#instances) if (this.#isLimited(instance)) instance.probe()
    this.#grow()
  }

  /** Whether an instance is at the limit of its event loop, but below the concurrency of the policy. */
  #isLimited({ accepting, inflight, window }: Instance): boolean {
    return accepting && inflight >= window && inflight < this.#options.concurrency
  }

  /** Number of instances that the queue needs; 0 while an instance may still show that it can take more. */
  #wanted(): number {
    if (this.#queue.length === 0) return 0
    let each = this.#options.concurrency
    for (const instance of this.#instances) {
      if (!this.#isLimited(instance)) continue
      if (!instance.busy) return 0
      each = Math.min(each, instance.window)
    }
    return Math.ceil(this.#queue.length / each)
  }

  /** Starts as many instances as the queue needs and the limits and the delay after failures allow. */
  #grow(): void {
    if (this.#stopped || this.#backoff.remainingMs > 0) return
    const wanted = this.#wanted()
    const missing = this.#retired ? 0 : this.#options.min - this.#staying
    while (this.#starting < Math.max(wanted, missing) && this.#staying + this.#starting < this.#options.max) {
      if (!this.#options.capacity.take()) return
      this.#launch(true).catch(nothing)
    }
  }

  async #launch(placed = false): Promise<void> {
    if (!placed && !this.#options.capacity.take()) throw new BootFailure('every instance of this host is at work', '')
    this.#starting++
    const begun = performance.now()
    try {
      const instance = await this.#start()
      this.#starting--
      instance.usedAt = performance.now()
      this.#instances.push(instance)
      instance.onPong = () => this.#serveQueue()
      this.#options.events.started(instance, performance.now() - begun)
      this.#serveQueue()
    } catch (error) {
      this.#starting--
      const failure = error instanceof BootFailure ? error : new BootFailure((error as Error).message, '')
      // A start that the host stops is not a failure of the function.
      if (!this.#stopped) this.#options.events.bootFailed(failure)
      this.#failed('boot')
      throw failure
    } finally {
      if (this.#retired) this.#drain()
    }
  }

  async #start(): Promise<Instance> {
    let instance: Instance
    try {
      instance = await this.#options.start()
    } catch (error) {
      this.#options.capacity.give()
      throw error
    }
    void instance.exited.then((exit) => this.#lost(instance, exit))
    this.#running.add(instance)
    if (this.#stopped) instance.kill('stopped')
    try {
      await instance.ready
    } catch (error) {
      instance.kill('crashed')
      throw error
    }
    if (!instance.accepting) throw new BootFailure('it ended as soon as it had started', '')
    return instance
  }

  #lost(instance: Instance, exit: Exit): void {
    this.#options.capacity.give()
    this.#running.delete(instance)
    const at = this.#instances.indexOf(instance)
    if (at >= 0) {
      this.#instances.splice(at, 1)
      this.#options.events.exited(instance, exit)
      if (exit.reason !== 'idle' && exit.reason !== 'replaced' && exit.reason !== 'stopped') this.#failed('busy')
    }
    if (this.#retired) this.#drain()
    else this.#grow()
  }

  #failed(why: Refusal['why']): void {
    this.#why = why
    const delayMs = this.#backoff.failed()
    if (this.#instances.length > 0 || (why === 'busy' && delayMs === 0)) return
    const retryMs = Math.max(delayMs, BACKOFF_MS)
    for (const place of this.#queue.splice(0)) if (!place.cancelled) place.waiter.refused({ why, retryMs })
  }

  #drain(): void {
    for (const instance of this.#instances) if (!instance.working) instance.dismiss('replaced')
    if (this.#instances.length > 0 || this.#starting > 0 || this.#queue.length > 0) return
    this.#options.capacity.leave(this)
    this.#emptied.resolve()
  }
}

function nothing(): void {}
