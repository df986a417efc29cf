import { copyFile, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FunctionVersion } from '../function-version.ts'
import { BUNDLE, type Command } from '../runtime/runtime.ts'
import type { RuntimeProcess } from './runtime-process.ts'

/** Folders and user of one process. */
export interface Place {
  readonly runDir: string
  readonly codeDir: string
  readonly uid: number | null
}

/** A confined process without code. It becomes one instance of one version, and ends with it. */
export interface Spare {
  readonly place: Place
  readonly command: Command
  readonly process: RuntimeProcess
}

export interface SparesOptions {
  /** Number of processes that are kept ready. */
  readonly count: number
  /** Memory limit of their confinement, which cannot be changed later. */
  readonly memoryMb: number
  /** Starts a process; null when there is no room for it. */
  readonly start: () => Promise<Spare | null>
  /** Removes the folders of an ended process, and frees its user. */
  readonly remove: (place: Place) => Promise<void>
}

/** Largest bundle in bytes that a spare takes: compiling a larger one takes longer than a start with the code cache. */
const MAX_BUNDLE_BYTES = 262_144
/** Delay of new spares after a start, which must not compete with them. */
const REFILL_MS = 250

/**
 * Processes that are started and confined before they are needed, because most of a cold start is the start of the
 * runtime. The first ones are started after the first instance of the host.
 */
export class Spares {
  readonly #options: SparesOptions
  readonly #ready: Spare[] = []
  #timer: NodeJS.Timeout | null = null
  #filling: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: SparesOptions) {
    this.#options = options
  }

  /** Process ids of the waiting processes. */
  get pids(): readonly number[] {
    return this.#ready.map(({ process }) => process.pid)
  }

  /**
   * Gives a process to a version and puts the version's code into its folder. Null when none waits, or the version needs
   * another confinement, static files or its code cache.
   */
  async take(version: FunctionVersion): Promise<Spare | null> {
    this.#fillLater()
    if (this.#ready.length === 0 || version.policy.memory_mb !== this.#options.memoryMb || version.files.length > 0)
      return null
    const source = join(version.codeDir, BUNDLE)
    if ((await stat(source)).size > MAX_BUNDLE_BYTES) return null
    const spare = this.#ready.pop()
    if (!spare) return null
    if (!spare.process.isRunning) {
      await this.end(spare)
      return this.take(version)
    }
    try {
      // Modules read their own path, so the folder has the function's name.
      const folder = join(spare.place.codeDir, version.name)
      await mkdir(folder, { mode: 0o755 })
      await copyFile(source, join(folder, BUNDLE))
    } catch (error) {
      await this.end(spare)
      throw error
    }
    const bundle = new URL(`${encodeURIComponent(version.name)}/${BUNDLE}`, spare.command.bundle).href
    return { ...spare, command: { ...spare.command, bundle } }
  }

  /** Ends the waiting processes; no further one is started or given. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#filling
    await Promise.all(this.#ready.splice(0).map((spare) => this.end(spare)))
  }

  /** Kills the waiting processes at once: the host exits. */
  kill(): void {
    for (const { process } of this.#ready) process.kill()
  }

  /** Ends a process, removes its folders and frees its user. */
  async end(spare: Spare): Promise<void> {
    spare.process.kill()
    await spare.process.closed
    await this.#options.remove(spare.place)
  }

  #fillLater(): void {
    if (this.#timer) clearTimeout(this.#timer)
    if (this.#isClosed || this.#options.count === 0) return
    this.#timer = setTimeout(() => {
      // Without a waiting process the next cold start starts its own, and reports why it cannot.
      this.#filling = this.#filling.then(() => this.#fill()).catch(() => {})
    }, REFILL_MS)
    this.#timer.unref()
  }

  async #fill(): Promise<void> {
    while (!this.#isClosed && this.#ready.length < this.#options.count) {
      const spare = await this.#options.start()
      if (!spare) return
      this.#ready.push(spare)
      void spare.process.closed.then(() => this.#forget(spare))
    }
  }

  /** Removes a process that ended while it waited; the next cold start replaces it. */
  async #forget(spare: Spare): Promise<void> {
    const at = this.#ready.indexOf(spare)
    if (at === -1) return
    this.#ready.splice(at, 1)
    await this.end(spare)
  }
}
