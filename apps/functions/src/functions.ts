import type { TerraneError } from '@terrane/core'
import type { FunctionVersion } from './function-version.ts'
import type { Capacity } from './pool/capacity.ts'
import type { InstanceFactory } from './pool/factory.ts'
import { Pool, type PoolEvents } from './pool/pool.ts'

/** A version that answers requests, or that answered them until its successor was ready. */
export interface LiveFunction {
  readonly version: FunctionVersion
  readonly pool: Pool
}

/** Events of versions, for logs and metrics. */
export interface FunctionEvents {
  pool(version: FunctionVersion): PoolEvents
  live(version: FunctionVersion): void
  removed(version: FunctionVersion): void
}

/** Why a function cannot be built or started. */
export interface Failure {
  readonly code: string
  readonly message: string
  /** Output of the bundler or the process, one line each. */
  readonly details: string | null
  readonly failed_at: string
}

export interface InstallOptions {
  /** Start an instance before the switch even if the predecessor has none. */
  readonly warm?: boolean
  /** Called at the moment of the switch. Returns the version as it is to be served from then on. */
  readonly govern?: (version: FunctionVersion) => FunctionVersion
}

const TICK_MS = 100

/** The functions of this host: the live version of each name, and its processes. */
export class Functions implements AsyncDisposable {
  readonly #factory: InstanceFactory
  readonly #capacity: Capacity
  readonly #events: FunctionEvents
  readonly #live = new Map<string, LiveFunction>()
  readonly #broken = new Set<string>()
  readonly #failures = new Map<string, { readonly failure: Failure; readonly isFetch: boolean }>()
  readonly #pools = new Map<Pool, FunctionVersion>()
  readonly #timer: NodeJS.Timeout
  #ticked = performance.now()

  constructor(factory: InstanceFactory, capacity: Capacity, events: FunctionEvents) {
    this.#factory = factory
    this.#capacity = capacity
    this.#events = events
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  get(project: string, name: string): LiveFunction | undefined {
    return this.#live.get(`${project}/${name}`)
  }

  /** The live version of a function that was found earlier; undefined when it was removed since. */
  currentOf(found: LiveFunction): LiveFunction | undefined {
    return this.get(found.version.project, found.version.name)
  }

  [Symbol.iterator](): Iterator<LiveFunction> {
    return this.#live.values()
  }

  /** True for a function that exists but has never had a version that could be served. */
  isBroken(project: string, name: string): boolean {
    return this.#broken.has(`${project}/${name}`)
  }

  markBroken(project: string, name: string): void {
    this.#broken.add(`${project}/${name}`)
  }

  /**
   * Records why the newest code of a function is not served, until it is served or removed.
   *
   * @param isFetch whether its imports could not be fetched
   */
  fail(project: string, name: string, error: unknown, isFetch = false): void {
    const key = `${project}/${name}`
    if (!this.#live.has(key)) this.#broken.add(key)
    const { code, message, details, detail } = error as Partial<TerraneError> & { detail?: string }
    const failure = {
      code: code ?? 'INTERNAL',
      message: message ?? String(error),
      details: details ?? detail ?? null,
      failed_at: new Date().toISOString(),
    }
    this.#failures.set(key, { failure, isFetch })
  }

  /** Functions whose newest code is not served; `isFetch` where their imports could not be fetched. */
  *failing(): Generator<{ readonly project: string; readonly name: string; readonly isFetch: boolean }> {
    for (const [key, { isFetch }] of this.#failures) {
      const [project = '', name = ''] = key.split('/')
      yield { project, name, isFetch }
    }
  }

  /** Names of a project's functions whose newest code is not served, and why. */
  failuresOf(project: string): ReadonlyMap<string, Failure> {
    const own = [...this.#failures].filter(([key]) => key.startsWith(`${project}/`))
    return new Map(own.map(([key, { failure }]) => [key.slice(project.length + 1), failure]))
  }

  /** Resolves when no process of the version is left. */
  async whenUnused(version: FunctionVersion): Promise<void> {
    const pools = [...this.#pools].filter(([, used]) => used.codeDir === version.codeDir)
    await Promise.all(pools.map(([pool]) => pool.empty))
  }

  /**
   * Makes a version live. When its predecessor is in use, or `warm` asks for it, its first instance starts before the
   * switch. The predecessor then finishes its requests and ends. No request is lost.
   *
   * @throws BootFailure when that instance does not start; the predecessor stays live
   */
  async install(version: FunctionVersion, options: InstallOptions = {}): Promise<void> {
    const key = `${version.project}/${version.name}`
    const { policy } = version
    const pool = new Pool({
      concurrency: policy.concurrency,
      min: policy.min,
      max: policy.max,
      idleMs: policy.idle_ms,
      start: () => this.#factory.start(version, false),
      capacity: this.#capacity,
      events: this.#events.pool(version),
    })
    this.#pools.set(pool, version)
    void pool.empty.then(() => this.#pools.delete(pool))
    if (options.warm || policy.min > 0 || (this.#live.get(key)?.pool.size ?? 0) > 0) {
      try {
        await pool.warm()
      } catch (error) {
        pool.stop()
        throw error
      }
    }
    // Read after the wait: another version may have become the current one meanwhile.
    const before = this.#live.get(key)
    this.#live.set(key, { version: options.govern?.(version) ?? version, pool })
    this.#broken.delete(key)
    this.#failures.delete(key)
    before?.pool.retire()
    this.#events.live(version)
  }

  /** Applies another admission policy to the live version; does nothing when there is none. */
  govern(project: string, name: string, rule: (version: FunctionVersion) => FunctionVersion): void {
    const key = `${project}/${name}`
    const found = this.#live.get(key)
    if (found) this.#live.set(key, { version: rule(found.version), pool: found.pool })
  }

  remove(project: string, name: string): void {
    const key = `${project}/${name}`
    this.#broken.delete(key)
    this.#failures.delete(key)
    const found = this.#live.get(key)
    if (!found) return
    this.#live.delete(key)
    found.pool.retire()
    this.#events.removed(found.version)
  }

  /** Waits until no function is handling a request, at most `ms`. */
  async drain(ms: number): Promise<void> {
    const end = performance.now() + ms
    while (performance.now() < end && this.#working()) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    for (const pool of this.#pools.keys()) pool.stop()
    await Promise.all([...this.#pools.keys()].map((pool) => pool.empty))
  }

  #working(): boolean {
    for (const pool of this.#pools.keys()) {
      if (pool.queued > 0) return true
      for (const instance of pool) if (instance.working) return true
    }
    return false
  }

  #tick(): void {
    const now = performance.now()
    const lateMs = Math.max(0, now - this.#ticked - TICK_MS)
    this.#ticked = now
    for (const pool of this.#pools.keys()) pool.check(now, lateMs)
  }
}
