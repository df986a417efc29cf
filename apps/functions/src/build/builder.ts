import { statSync } from 'node:fs'
import { withImports, type Bundle, type DenoImports, type ModuleGraph, type TypeCheck } from '@terrane/bundler'
import type { BuildCache } from './build-cache.ts'
import { packagePlaces } from './package-places.ts'
import { BuildProcess, type BuildJob } from './build-process.ts'

/** Fetches imports of folders, and checks their types. */
type Imports = Pick<DenoImports, 'fetch' | 'types'> & Disposable

interface Waiting {
  readonly job: BuildJob
  readonly payload: Uint8Array
  readonly limitMs: number
  readonly done: PromiseWithResolvers<Bundle>
}

/** Time after which an idle build process ends. */
const IDLE_MS = 30_000
/** Maximum number of builds of one process that serves watched folders; then it is replaced. */
const MOST_REUSES = 100

const NOTHING = new Uint8Array()

/**
 * Bundles functions in separate processes, several at a time, with projects taking turns. A project whose code breaks a
 * bundler, or that queues many builds, does not affect the others. An upload gets a fresh process, which ends with it.
 * Builds of a watched folder, which all belong to the owner, share one process.
 */
export class Builder implements Disposable {
  readonly #cache: BuildCache | null
  readonly #imports: Imports | null
  readonly #program: string
  readonly #parallel: number
  readonly #uploadMs: number
  readonly #folderMs: number
  /** Waiting builds by project. The project whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  /** Folders that needed a fetch, with the state of the installed packages at that time. */
  readonly #fetchedFor = new Map<string, string>()
  /** Folders with a call that waits for their build. */
  readonly #hurried = new Set<string>()
  readonly #running = new Map<string, number>()
  readonly #processes = new Set<BuildProcess>()
  readonly #own = new Map<string, { readonly process: BuildProcess; builds: number }[]>()
  #spare: BuildProcess | null = null
  #idleTimer: NodeJS.Timeout | undefined
  #busy = 0
  #quieted: PromiseWithResolvers<void> | null = null
  #closed = false

  /**
   * @param program path of the program that `writeBuildProgram` has written
   * @param parallel number of concurrent builds; a single project uses all of them
   * @param imports fetches imports of functions in folders; absent: packages come from node_modules
   */
  constructor(options: {
    readonly program: string
    readonly parallel: number
    readonly cache: BuildCache | null
    readonly imports?: Imports | null
    readonly uploadMs?: number
    readonly folderMs?: number
  }) {
    this.#program = options.program
    this.#cache = options.cache
    this.#imports = options.imports ?? null
    this.#parallel = options.parallel
    this.#uploadMs = options.uploadMs ?? 4000
    this.#folderMs = options.folderMs ?? 60_000
  }

  /**
   * Bundles uploaded files.
   *
   * @throws FUNCTION_BUNDLE_FAILED, FUNCTION_BUILD_LIMIT
   */
  async bundleFiles(project: string, files: ReadonlyMap<string, Uint8Array>): Promise<Bundle> {
    const known = await this.#cache?.find(files)
    if (known) return known
    const sizes = [...files].map(([path, bytes]) => [path, bytes.length] as const)
    const payload = Buffer.concat([...files.values()])
    const bundle = await this.#enqueue(project, { kind: 'files', files: sizes }, payload, this.#uploadMs)
    await this.#cache?.keep(files, bundle)
    return bundle
  }

  /**
   * Bundles a function's folder on this machine.
   *
   * @throws FUNCTION_BUNDLE_FAILED, FUNCTION_BUILD_LIMIT
   */
  async bundleFolder(project: string, folder: string): Promise<Bundle> {
    const known = await this.#cache?.findFolder(folder)
    if (known) return known
    const bundle = (fetched: ModuleGraph | null) =>
      this.#enqueue(project, { kind: 'folder', folder, fetched }, NOTHING, this.#folderMs)
    let fetch = this.#imports && (() => this.#imports!.fetch(folder))
    // A folder that needed a fetch last time will need it again, unless packages were installed meanwhile.
    if (fetch && this.#fetchedFor.has(folder) && this.#fetchedFor.get(folder) === installedAbove(folder)) {
      const early = fetch()
      const fetched = await early.catch(() => null)
      if (fetched) return bundle(fetched)
      fetch = () => early
    }
    let isFetched = false
    const bundled = await withImports((fetched) => {
      isFetched = fetched !== null
      return bundle(fetched)
    }, fetch)
    if (isFetched) this.#fetchedFor.set(folder, installedAbove(folder))
    else this.#fetchedFor.delete(folder)
    return bundled
  }

  /** Checks the types of a function's folder, once for each state of its files; null without Deno. */
  async typesOf(folder: string, bundle: Bundle): Promise<TypeCheck | null> {
    if (!this.#imports) return null
    const known = await this.#cache?.findTypes(folder, bundle.inputs)
    if (known) return known
    const found = await this.#imports.types(folder, () => this.#quiet())
    if (found.unchecked === null) await this.#cache?.keepTypes(folder, bundle.inputs, found)
    return found
  }

  /** Settles once no build is running or waiting. */
  async #quiet(): Promise<void> {
    while (this.#busy > 0 && !this.#closed) {
      this.#quieted ??= Promise.withResolvers()
      await this.#quieted.promise
    }
  }

  /**
   * Puts the next build of a folder first in its project's queue; this holds also for a build that is requested later.
   */
  hurry(project: string, folder: string): void {
    const queue = this.#waiting.get(project) ?? []
    const at = queue.findIndex(({ job }) => job.kind === 'folder' && job.folder === folder)
    if (at < 0) this.#hurried.add(folder)
    else queue.unshift(...queue.splice(at, 1))
  }

  /**
   * Caches the bundle of a folder.
   *
   * @param unchanged tells whether the inputs have not changed since they were bundled
   */
  async keepFolder(folder: string, bundle: Bundle, unchanged: () => Promise<boolean>): Promise<void> {
    await this.#cache?.keepFolder(folder, bundle, unchanged)
  }

  /** Cancels waiting builds and fetches for folders. */
  abandon(project: string): void {
    this.#imports?.[Symbol.dispose]()
    const queue = this.#waiting.get(project) ?? []
    this.#waiting.delete(project)
    for (const { done } of queue) done.reject(new Error('the host is stopping'))
  }

  [Symbol.dispose](): void {
    this.#closed = true
    for (const project of this.#waiting.keys()) this.abandon(project)
    this.#imports?.[Symbol.dispose]()
    this.#endAll()
  }

  #enqueue(project: string, job: BuildJob, payload: Uint8Array, limitMs: number): Promise<Bundle> {
    const done = Promise.withResolvers<Bundle>()
    const queue = this.#waiting.get(project) ?? []
    const waiting = { job, payload, limitMs, done }
    if (job.kind === 'folder' && this.#hurried.delete(job.folder)) queue.unshift(waiting)
    else queue.push(waiting)
    this.#waiting.set(project, queue)
    this.#next()
    return done.promise
  }

  #next(): void {
    const share = Math.max(1, this.#parallel - 1)
    for (const [project, queue] of this.#waiting) {
      if (this.#busy >= this.#parallel || this.#closed) return
      const running = this.#running.get(project) ?? 0
      if (running >= share) continue
      const waiting = queue.shift()!
      // The project moves to the end of the queue.
      this.#waiting.delete(project)
      if (queue.length > 0) this.#waiting.set(project, queue)
      this.#running.set(project, running + 1)
      this.#busy++
      clearTimeout(this.#idleTimer)
      void this.#run(project, waiting).finally(() => {
        this.#busy--
        const left = this.#running.get(project)! - 1
        if (left > 0) this.#running.set(project, left)
        else this.#running.delete(project)
        if (this.#busy === 0) this.#idleTimer = setTimeout(() => this.#endAll(), IDLE_MS).unref()
        this.#next()
        if (this.#busy > 0) return
        this.#quieted?.resolve()
        this.#quieted = null
      })
    }
  }

  async #run(project: string, { job, payload, limitMs, done }: Waiting): Promise<void> {
    const owned = job.kind === 'folder' ? this.#own.get(project)?.pop() : undefined
    const taken = owned?.process.alive ? owned : { process: this.#fresh(), builds: 0 }
    const { process } = taken
    try {
      done.resolve(await process.run(job, payload, limitMs))
    } catch (error) {
      done.reject(error)
    }
    taken.builds++
    if (job.kind === 'folder' && process.alive && taken.builds < MOST_REUSES && !this.#closed) {
      const own = this.#own.get(project) ?? []
      own.push(taken)
      this.#own.set(project, own)
    } else {
      process.end()
      this.#processes.delete(process)
    }
  }

  /** A process that has not run a build: the spare one or a new one. A new spare is then started. */
  #fresh(): BuildProcess {
    const spare = this.#spare?.alive ? this.#spare : this.#start()
    this.#spare = this.#start()
    return spare
  }

  #start(): BuildProcess {
    const process = new BuildProcess(this.#program)
    this.#processes.add(process)
    return process
  }

  #endAll(): void {
    clearTimeout(this.#idleTimer)
    for (const process of this.#processes) process.end()
    this.#processes.clear()
    this.#own.clear()
    this.#spare = null
  }
}

/** Modification times of the package managers' records for the packages that a folder finds. */
function installedAbove(folder: string): string {
  const times = packagePlaces(folder, []).map((place) => statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return times.join(' ')
}
