import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BundleFailure, TypeCheck } from '@terrane/bundler'
import { digestOf } from '../build/archive.ts'
import { packagePlaces } from '../build/package-places.ts'
import { environmentOf, ignoredNames } from '../environment.ts'
import { filesNotStill } from '../errors.ts'
import type { FunctionVersion } from '../function-version.ts'
import { withCrons } from '../crons.ts'
import { admitting, readAdmission } from './admission.ts'
import type { FolderContext } from './folder-context.ts'
import { FolderInputs } from './folder-inputs.ts'
import { buildFolder, fixedInputs, readEnvFile, usualEntries, type BuiltFolder } from './function-folder.ts'
import { isStill, lookAt, treeOf } from './snapshot.ts'

/** Files count as still when two checks at this interval see no difference. */
const STILL_MS = 150
/** Number of rounds after which a warning says that a folder keeps changing. The wait continues. */
const RESTLESS_ROUNDS = 40
/** Delay of the type check: after another save within it, only the later state is checked. */
const TYPES_AFTER_MS = 1500
/** Delay before a build is retried that failed because imports could not be fetched; it doubles up to the longest. */
const RETRY_MS = 2000
const LONGEST_RETRY_MS = 30_000
/** Maximum retries of a permanent failure until the next save. */
const MOST_RETRIES = 3
const SOURCE = /\.(?:[cm]?[jt]sx?|jsonc?|env)$/

/** Result of a round: the new version, if any, and whether files have changed meanwhile. */
interface Round {
  readonly version: FunctionVersion | null
  readonly moved: boolean
}
const MOVED: Round = { version: null, moved: true }

/** The last good build of a folder. */
interface Served {
  readonly version: FunctionVersion
  /** Digest, policy and environment, as JSON. When unchanged, there is nothing to do. */
  readonly fingerprint: string
}

/** The function of one folder: builds the state on disk once it is still, and serves it. */
export class ServedFolder {
  readonly home: string
  readonly #name: string
  readonly #context: FolderContext
  #inputs: FolderInputs
  #served: Served | null = null
  #types: TypeCheck | null = null
  #hasFailed = false
  #failedFetches = 0
  #retry: NodeJS.Timeout | undefined
  /** Message of the last failure: the same one is logged once. */
  #failure: string | null = null
  #isForgotten = false
  /** Work to serve the state on disk; `#again` requests another round. */
  #settling: Promise<void> | null = null
  #again = false

  constructor(name: string, context: FolderContext) {
    this.#name = name
    this.#context = context
    this.home = join(context.root, name)
    this.#inputs = FolderInputs.of(context.root, this.home)
  }

  /** True when there is a function, built or not. */
  get isThere(): boolean {
    return this.#served !== null || this.#hasFailed || this.#settling !== null
  }

  /** Result of the type check of the served version; null before the check. */
  get types(): TypeCheck | null {
    return this.#types
  }

  /** True when the last attempt could not fetch imports; a retry may take as long as a fetch. */
  get isWithoutImports(): boolean {
    return this.#failedFetches > 0
  }

  /** The running work; null when the state on disk is served. */
  get settling(): Promise<void> | null {
    return this.#settling
  }

  /** Handles a change: applies a stricter policy at once, and builds again if the change concerns the function. */
  change(path: string, isConfig: boolean): void {
    if (isConfig || this.#inputs.isOwn(path)) this.#govern()
    if (!this.#inputs.concerns(path, this.#hasFailed)) return
    this.#failedFetches = 0
    void this.settle()
  }

  /** Serves the state on disk, once it is still. */
  settle(): Promise<void> {
    const { line, isClosed } = this.#context
    if (this.#isForgotten || isClosed()) return Promise.resolve()
    this.#again = true
    clearTimeout(this.#retry)
    this.#settling ??= line
      .run(this.#name, () => this.#settleUntilStill())
      .finally(() => {
        this.#settling = null
      })
    return this.#settling
  }

  /** Called when the folder is no longer a function. */
  forget(): void {
    this.#isForgotten = true
    clearTimeout(this.#retry)
    this.#context.line.hurry(this.#name)
    this.#context.watcher.forget(this.#name)
    this.#withdraw()
  }

  #withdraw(): void {
    const { functions, store, project, served } = this.#context
    functions.remove(project.id, this.#name)
    void served?.remove(this.#name)
    if (this.#served) void store.discard(this.#served.version, functions)
    this.#served = null
  }

  /** Applies a stricter admission policy of `function.json` at once. */
  #govern(): void {
    if (!this.#served) return
    const { functions, project } = this.#context
    const { policy } = this.#served.version
    const admission = readAdmission(this.home)
    // A file that cannot be read now changes nothing. It is read again once it is still.
    if (!admission) return
    functions.govern(project.id, this.#name, (live) => admitting({ ...live, policy }, admission))
  }

  async #settleUntilStill(): Promise<void> {
    const { events, isClosed } = this.#context
    const name = this.#name
    const begun = performance.now()
    for (let round = 1; this.#again && !this.#isForgotten && !isClosed(); round++) {
      this.#again = false
      try {
        const { version, moved } = await this.#attempt()
        if (moved) this.#again = true
        else [this.#failedFetches, this.#failure] = [0, null]
        if (version) events.built(version, performance.now() - begun)
        if (round % RESTLESS_ROUNDS === 0 && this.#again) events.failed(name, filesNotStill({ name }))
      } catch (error) {
        if (isClosed()) return
        this.#failed(error as Error)
      }
    }
  }

  #failed(error: Error): void {
    const { functions, project, events } = this.#context
    this.#hasFailed = true
    if (this.#served) this.#served = { ...this.#served, fingerprint: '' }
    const { isRetryable: isFetch = false, isPassing = false } =
      (error.cause as Partial<BundleFailure> | undefined) ?? {}
    if (!this.#isForgotten) functions.fail(project.id, this.#name, error, isFetch)
    if (!isFetch || error.message !== this.#failure) events.failed(this.#name, error)
    this.#failure = error.message
    if (!isFetch) this.#failedFetches = 0
    if (!isFetch || this.#isForgotten) return
    if (!isPassing && this.#failedFetches >= MOST_RETRIES) return
    clearTimeout(this.#retry)
    const waitMs = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** this.#failedFetches++)
    this.#retry = setTimeout(() => void this.settle(), waitMs)
    this.#retry.unref()
  }

  /** One round: read the files, build while they prove to be still, read again, and serve if nothing has changed meanwhile. */
  async #attempt(): Promise<Round> {
    const { ceilings, builder, project, root, isClosed } = this.#context
    const { home } = this
    // Files that config.toml names may have changed.
    const fixed = new Set(fixedInputs(home))
    this.#inputs = this.#inputs.with({ fixed, realHome: await realpath(home).catch(() => home) })
    const [own, shared] = await Promise.all([treeOf(home), treeOf(join(root, '_shared'))])
    this.#watch(own.folders)
    const begunMs = Date.now()
    const before = await lookAt([...this.#inputs.all, ...own.files, ...shared.files])
    const isUntouched = async (paths: Iterable<string>) => isStill(before, await lookAt(paths), begunMs)
    const isEmpty = usualEntries(home)?.every((entry) => before.get(join(home, entry)) === '') ?? false
    const building = isEmpty ? null : buildFolder(home, ceilings, (path) => builder.bundleFolder(project.id, path))
    building?.catch(() => {})
    await sleep(STILL_MS)
    if (isClosed() || !(await isUntouched(this.#inputs.read))) {
      // A folder is built once at a time.
      await building?.catch(() => {})
      return MOVED
    }
    if (building === null) {
      this.#withdraw()
      this.#hasFailed = false
      return { version: null, moved: false }
    }
    let built: BuiltFolder
    try {
      built = await building
    } catch (error) {
      const { missing = [] } = ((error as Error).cause as Partial<BundleFailure> | undefined) ?? {}
      this.#inputs = this.#inputs.with({ places: packagePlaces(home, missing) })
      this.#watch(own.folders)
      const sources = [...own.files, ...shared.files].filter((path) => SOURCE.test(path))
      // A half-saved state is not reported; and a package may have been installed during the build.
      if (!(await isUntouched([...fixed, ...sources]))) return MOVED
      throw error
    }
    this.#inputs = this.#inputs.with({ inputs: new Set(built.inputs), places: packagePlaces(home, []) })
    this.#watch(own.folders)
    const unchanged = () => isUntouched(this.#inputs.all)
    if (!(await unchanged())) return MOVED
    await builder.keepFolder(home, built.bundle, unchanged)
    const version = await this.#serve(built)
    this.#hasFailed = false
    return { version, moved: false }
  }

  /** Returns the new version, or null when the files produce the version already served. */
  async #serve(built: BuiltFolder): Promise<FunctionVersion | null> {
    const { root, project, functions, store, events } = this.#context
    const name = this.#name
    const shared = await readEnvFile(join(root, '.env'))
    const env = environmentOf(project, built.policy, { project: shared, own: built.secrets })
    const digest = digestOf(built.archive)
    const fingerprint = JSON.stringify([digest, built.policy, env])
    if (fingerprint === this.#served?.fingerprint) {
      this.#govern()
      return null
    }
    const ignored = ignoredNames(shared, built.secrets)
    if (ignored.length > 0) events.ignored(name, ignored)
    const govern = (live: FunctionVersion) => admitting(live, readAdmission(this.home))
    const version = await store.use({ project: project.id, name }, digest, async () => {
      const facts = { project: project.id, name, version: 0, policy: built.policy, env }
      const added = await store.add(built.archive, facts)
      const policy = withCrons(built.policy, await store.cronsOf(added, built.bundle.code))
      if (this.#isForgotten) return null
      await functions.install({ ...added, policy }, { govern })
      return { ...added, policy }
    })
    if (version === null) return null
    void this.#context.served?.put(name, version.policy)
    const former = this.#served?.version
    this.#served = { version, fingerprint }
    void this.#checkTypes(version, built)
    if (this.#isForgotten) this.#withdraw()
    if (former && former.codeDir !== version.codeDir) void store.discard(former, functions)
    return version
  }

  /** Runs after the version is served, so that it delays no call. */
  async #checkTypes(version: FunctionVersion, { bundle }: BuiltFolder): Promise<void> {
    const { builder, events, hasTypes, isClosed } = this.#context
    const isServed = () => !isClosed() && this.#served?.version === version
    this.#types = null
    if (!hasTypes) return
    await sleep(TYPES_AFTER_MS, undefined, { ref: false })
    if (!isServed()) return
    const check = await builder.typesOf(this.home, bundle).catch(() => null)
    if (!check || !isServed()) return
    this.#types = check
    events.types(version, check)
  }

  #watch(own: readonly string[]): void {
    if (this.#isForgotten || this.#context.isClosed()) return
    this.#context.watcher.watch(this.#name, this.#inputs.foldersToWatch(own))
  }
}
