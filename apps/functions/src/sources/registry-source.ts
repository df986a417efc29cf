import { environmentOf } from '../environment.ts'
import type { FunctionVersion } from '../function-version.ts'
import type { Functions, LiveFunction } from '../functions.ts'
import type { Projects } from '../projects/project.ts'
import type { Archives } from '../registry/archives.ts'
import { CHANNEL, type LiveRecord, type Registry } from '../registry/registry.ts'
import type { VersionStore } from '../version-store.ts'
import { clampPolicy, type Ceilings } from '../policy.ts'

export interface RegistrySourceOptions {
  readonly registry: Registry
  readonly archives: Archives
  readonly projects: Projects
  readonly functions: Functions
  readonly store: VersionStore
  readonly ceilings: Ceilings
  /** True for a name that another source on this host serves. */
  readonly isTaken: (project: string, name: string) => boolean
  readonly onFailed: (record: LiveRecord, error: unknown) => void
  /** The registry cannot be read; known functions continue to be served. */
  readonly onLost: (error: unknown) => void
  /** Interval between two reads of the registry. */
  readonly pollMs: number
}

interface Known {
  record: LiveRecord
  /** Etag of the version that this host serves; null until the function is first requested. */
  etag: string | null
  loading: Promise<LiveFunction | undefined> | null
  /** After a failure: time of the earliest retry. */
  retryAt: number
}

const RETRY_MS = 5000

/**
 * Follows a registry: knows the live versions, loads a function at its first request, and replaces what it serves when
 * the registry changes. A lost notification delays a change by one poll at most.
 */
export class RegistrySource implements AsyncDisposable {
  readonly #options: RegistrySourceOptions
  readonly #known = new Map<string, Known>()
  #timer: NodeJS.Timeout | undefined
  #listening: AsyncDisposable | null = null
  #looking: Promise<void> | null = null
  #again = false

  constructor(options: RegistrySourceOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    const { registry, pollMs } = this.#options
    this.#listening = await registry.database.listen(CHANNEL, () => void this.look())
    await this.look()
    this.#timer = setInterval(() => void this.look(), pollMs)
    this.#timer.unref()
  }

  /**
   * The function, loaded if the registry has it and this host does not serve it yet; undefined when it does not exist.
   */
  find(project: string, name: string): Promise<LiveFunction | undefined> | undefined {
    const known = this.#known.get(`${project}/${name}`)
    return known && !this.#options.isTaken(project, name) ? this.#load(known) : undefined
  }

  /** Reads the registry now; calls during a read cause one more. */
  look(): Promise<void> {
    if (this.#looking) {
      this.#again = true
      return this.#looking
    }
    this.#looking = this.#lookUntilStill().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** Reads the registry, and resolves when this host serves the live version of the function. */
  async follow(project: string, name: string): Promise<void> {
    await this.look()
    await this.find(project, name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#listening?.[Symbol.asyncDispose]()
    await this.#looking
  }

  async #lookUntilStill(): Promise<void> {
    do {
      this.#again = false
      try {
        this.#take(await this.#options.registry.allLive())
      } catch (error) {
        this.#options.onLost(error)
      }
    } while (this.#again)
  }

  #take(records: readonly LiveRecord[]): void {
    const { functions } = this.#options
    const seen = new Set<string>()
    for (const record of records) {
      const key = keyOf(record)
      seen.add(key)
      const known = this.#known.get(key)
      if (!known) {
        this.#known.set(key, { record, etag: null, loading: null, retryAt: 0 })
        if (record.policy.min > 0) void this.find(record.project, record.name)
        continue
      }
      if (known.record.etag !== record.etag) {
        known.record = record
        known.retryAt = 0
      }
      // Requests go to the served version, so a failed load is retried only here.
      if (known.etag !== null && known.etag !== record.etag) void this.find(record.project, record.name)
    }
    for (const [key, { record }] of this.#known) {
      if (seen.has(key)) continue
      this.#known.delete(key)
      if (!this.#options.isTaken(record.project, record.name)) functions.remove(record.project, record.name)
    }
  }

  /** Updates the served version to the record; a version that fails leaves the former one in place. */
  #load(known: Known): Promise<LiveFunction | undefined> {
    known.loading ??= this.#loadUntilCurrent(known).finally(() => {
      known.loading = null
    })
    return known.loading
  }

  async #loadUntilCurrent(known: Known): Promise<LiveFunction | undefined> {
    const { functions, store, onFailed } = this.#options
    const { project, name } = known.record
    while (known.etag !== known.record.etag && performance.now() >= known.retryAt) {
      const { record } = known
      const former = functions.get(project, name)?.version
      try {
        const version = await store.use({ project, name }, record.digest, async () => {
          const prepared = await store.prepare(await this.#unpacked(record))
          await functions.install(prepared)
          return prepared
        })
        known.etag = record.etag
        if (former && former.codeDir !== version.codeDir) void store.discard(former, functions)
      } catch (error) {
        known.retryAt = performance.now() + RETRY_MS
        functions.fail(project, name, error)
        onFailed(record, error)
      }
    }
    return functions.get(project, name)
  }

  /** The version with its files on this machine, fetched if missing. */
  async #unpacked(record: LiveRecord): Promise<FunctionVersion> {
    const { registry, archives, projects, store, ceilings } = this.#options
    const { project: ref, name, version, digest } = record
    const policy = clampPolicy(record.policy, ceilings)
    const secrets = { project: await registry.secrets(ref, ''), own: await registry.secrets(ref, name) }
    const env = environmentOf(projects.get(ref), policy, secrets)
    const facts = { project: ref, name, version, policy, env }
    return (await store.find(digest, facts)) ?? store.add(await archives.get(ref, digest), facts)
  }
}

function keyOf({ project, name }: LiveRecord): string {
  return `${project}/${name}`
}
