import { readdir, realpath } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ENTRIES, configTomlFile, type BundleFailure, type TypeCheck } from '@terrane/bundler'
import { digestOf } from '../build/archive.ts'
import type { Builder } from '../build/builder.ts'
import { environmentOf, ignoredNames } from '../environment.ts'
import { filesNotStill, nameInvalid } from '../errors.ts'
import type { FunctionVersion } from '../function-version.ts'
import type { Functions, LiveFunction } from '../functions.ts'
import { FUNCTION_NAME, type Ceilings } from '../policy.ts'
import type { Project } from '../projects/project.ts'
import type { VersionStore } from '../version-store.ts'
import { admitting, readAdmission } from './admission.ts'
import { packagePlaces } from '../build/package-places.ts'
import { buildFolder, fixedInputs, isEnabled, readEnvFile, usualEntries, type BuiltFolder } from './function-folder.ts'
import { LatestFirst } from '../build/latest-first.ts'
import { isStill, lookAt, treeOf, type Tree } from './snapshot.ts'
import { FolderWatcher } from './watcher.ts'

export interface FolderSourceOptions {
  /** Folder with one folder per function, `_shared`, and `.env`. */
  readonly root: string
  readonly project: Project
  readonly ceilings: Ceilings
  readonly functions: Functions
  readonly store: VersionStore
  readonly builder: Builder
  readonly onBuilt: (version: FunctionVersion, ms: number) => void
  readonly onFailed: (name: string, error: unknown) => void
  /** Called with the variables of `.env` files that a new version does not get. */
  readonly onIgnored: (name: string, variables: readonly string[]) => void
  /** Whether the types of a version are checked after it is served. */
  readonly checkTypes: boolean
  /** Called with the result of the type check of the served version, once the check has run. */
  readonly onTypes: (version: FunctionVersion, found: TypeCheck) => void
}

interface Folder {
  /** Path of the folder, and its real path if it is a link. */
  readonly home: string
  realHome: string
  /** Absolute paths that are inputs whatever the folder contains. */
  fixed: ReadonlySet<string>
  /** Absolute paths that went into the last build. */
  inputs: ReadonlySet<string>
  /** Absolute paths whose changes show that packages were installed. */
  places: readonly string[]
  /** Digest, policy and environment of the last good build, as JSON. When unchanged, there is nothing to do. */
  fingerprint: string
  version: FunctionVersion | null
  /** Null: not checked yet. */
  types: TypeCheck | null
  failed: boolean
  /** Pending work to serve the state on disk; `again` requests another round. */
  settling: Promise<void> | null
  again: boolean
}

/** Files count as still when two looks this far apart see no difference. */
const STILL_MS = 150
/** After this many rounds a warning says that a folder does not come to rest. The wait continues. */
const RESTLESS_ROUNDS = 40
/** Delay of the type check: after another save within it, only the later state is checked. */
const TYPES_AFTER_MS = 1500
/** So many folders are looked at and built at a time, besides those that a call waits for. */
const AT_ONCE = 16
/** Longest time that a call waits for the first build of its function. */
const FIRST_BUILD_MS = 20_000

/**
 * Serves the functions of a folder and follows its files. Saved changes are served once code and policy have been
 * still. As soon as a stricter policy is on disk, callers are no longer admitted under the weaker one.
 */
export class FolderSource implements AsyncDisposable {
  readonly #options: FolderSourceOptions
  readonly #folders = new Map<string, Folder>()
  readonly #watcher: FolderWatcher
  readonly #line = new LatestFirst(AT_ONCE)
  readonly #misnamed = new Set<string>()
  #scanning: Promise<void> | null = null
  #scanAgain = false
  #closed = false

  constructor(options: FolderSourceOptions) {
    this.#options = options
    this.#watcher = new FolderWatcher(
      (path) => this.#changed(path),
      (error) => options.onFailed('', error),
    )
  }

  /** Finds the functions and begins to watch. They are built afterwards; a call waits for its own function. */
  async open(): Promise<void> {
    await this.#scan()
  }

  /** True for the name of a function that is in the folder, built or not. */
  has(name: string): boolean {
    const folder = this.#folders.get(name)
    return folder !== undefined && (folder.version !== null || folder.failed || folder.settling !== null)
  }

  /** Result of the type check of a served function; null before the check. */
  typesOf(name: string): TypeCheck | null {
    return this.#folders.get(name)?.types ?? null
  }

  /** The function, once its first build is done; undefined when there is none or it cannot be built. */
  find(projectId: string, name: string): Promise<LiveFunction | undefined> | undefined {
    const { functions, project, builder } = this.#options
    const folder = projectId === project.id ? this.#folders.get(name) : undefined
    const settling = folder?.settling
    if (!settling) return undefined
    this.#line.hurry(name)
    builder.hurry(project.id, folder.home)
    const waited = new AbortController()
    const enough = sleep(FIRST_BUILD_MS, undefined, { signal: waited.signal, ref: false }).catch(ignore)
    return Promise.race([settling, enough]).then(() => {
      waited.abort()
      return functions.get(project.id, name)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#watcher[Symbol.dispose]()
    this.#options.builder.abandon(this.#options.project.id)
    this.#line.hurryAll()
    await this.#scanning
    for (const { settling } of this.#folders.values()) await settling
  }

  #changed(path: string): void {
    if (this.#closed) return
    const { root } = this.#options
    const isConfig = path === configTomlFile(join(root, 'name'))
    if (isConfig || dirname(path) === root || path === root) void this.#scan()
    for (const [name, folder] of this.#folders) {
      const isOwn = isBelow(path, folder.home) || isBelow(path, folder.realHome)
      if (isOwn || isConfig) this.#govern(name, folder)
      // After a failure any file may be the one that was missing.
      const isMissing = folder.failed && isBelow(path, root)
      const isInput = folder.fixed.has(path) || folder.inputs.has(path) || this.#isShared(path, folder)
      if (
        isOwn ||
        isMissing ||
        isInput ||
        folder.places.some((place) => place === path || place.startsWith(path + sep))
      )
        void this.#settle(name)
    }
  }

  /** A new file beside a shared one may take its place in module resolution. */
  #isShared(path: string, { inputs }: Folder): boolean {
    const shared = join(this.#options.root, '_shared') + sep
    return path.startsWith(shared) && [...inputs].some((input) => input.startsWith(shared))
  }

  /** Applies a stricter admission policy of `function.json` at once. */
  #govern(name: string, { home, version }: Folder): void {
    if (!version) return
    const { functions, project } = this.#options
    const admission = readAdmission(home)
    // A file that cannot be read now changes nothing. It is read again once it is still.
    if (!admission) return
    functions.govern(project.id, name, (live) => admitting({ ...live, policy: version.policy }, admission))
  }

  /** Lists the functions; changes during the scan cause another one. */
  #scan(): Promise<void> {
    this.#scanAgain = true
    this.#scanning ??= this.#scanUntilStill().finally(() => {
      this.#scanning = null
    })
    return this.#scanning
  }

  async #scanUntilStill(): Promise<void> {
    const { root, functions, project } = this.#options
    while (this.#scanAgain && !this.#closed) {
      this.#scanAgain = false
      this.#watcher.watch('', [root, dirname(root)])
      const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
      const folders = entries.filter((entry) => !entry.isFile()).map((entry) => entry.name)
      const names = new Set(folders.filter((name) => FUNCTION_NAME.test(name)))
      await this.#reportMisnamed(folders.filter((name) => !FUNCTION_NAME.test(name)))
      names.delete('node_modules')
      for (const name of names) if (!isEnabled(join(root, name))) names.delete(name)
      for (const name of this.#folders.keys()) if (!names.has(name)) this.#forget(name)
      for (const name of names) {
        if (this.#folders.has(name)) continue
        const home = join(root, name)
        const fixed = new Set(fixedInputs(home))
        const folder = { home, realHome: home, fixed, inputs: new Set<string>(), fingerprint: '' }
        const places = packagePlaces(home, [])
        this.#folders.set(name, {
          ...folder,
          places,
          version: null,
          types: null,
          failed: false,
          settling: null,
          again: false,
        })
        functions.markBroken(project.id, name)
        void this.#settle(name)
      }
    }
  }

  /** Reports folders that hold a function but cannot be one by their name, once each. */
  async #reportMisnamed(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (/^[._]/.test(name) || this.#misnamed.has(name)) continue
      const files: readonly string[] = await readdir(join(this.#options.root, name)).catch(() => [])
      if (!ENTRIES.some((entry) => files.includes(entry))) continue
      this.#misnamed.add(name)
      this.#options.onFailed(name, nameInvalid({ name }))
    }
  }

  #forget(name: string): void {
    const folder = this.#folders.get(name)
    this.#folders.delete(name)
    this.#line.hurry(name)
    this.#watcher.forget(name)
    this.#withdraw(name, folder)
  }

  #withdraw(name: string, folder: Folder | undefined): void {
    const { functions, store, project } = this.#options
    functions.remove(project.id, name)
    if (!folder?.version) return
    void store.discard(folder.version, functions)
    folder.version = null
    folder.fingerprint = ''
  }

  #settle(name: string): Promise<void> {
    const folder = this.#folders.get(name)
    if (!folder || this.#closed) return Promise.resolve()
    folder.again = true
    folder.settling ??= this.#line
      .run(name, () => this.#settleUntilStill(name, folder))
      .finally(() => {
        folder.settling = null
      })
    return folder.settling
  }

  async #settleUntilStill(name: string, folder: Folder): Promise<void> {
    const begun = performance.now()
    const isWanted = () => !this.#closed && this.#folders.get(name) === folder
    for (let round = 1; folder.again && isWanted(); round++) {
      folder.again = false
      try {
        const { version, moved } = await this.#attempt(name, folder)
        if (moved) folder.again = true
        if (version) this.#options.onBuilt(version, performance.now() - begun)
        if (round % RESTLESS_ROUNDS === 0 && folder.again) this.#options.onFailed(name, filesNotStill({ name }))
      } catch (error) {
        if (this.#closed) return
        folder.failed = true
        folder.fingerprint = ''
        if (isWanted()) this.#options.functions.fail(this.#options.project.id, name, error)
        this.#options.onFailed(name, error)
      }
    }
  }

  /** One round: look, wait, build, look again, serve if nothing has moved meanwhile. */
  async #attempt(name: string, folder: Folder): Promise<{ version: FunctionVersion | null; moved: boolean }> {
    const { ceilings, builder, project, root } = this.#options
    const { home } = folder
    // What config.toml names may have changed.
    folder.fixed = new Set(fixedInputs(home))
    const { fixed } = folder
    folder.realHome = await realpath(home).catch(() => home)
    const [own, shared] = await Promise.all([treeOf(home), treeOf(join(root, '_shared'))])
    this.#watch(name, folder, own)
    const begunMs = Date.now()
    const before = await lookAt([...fixed, ...folder.inputs, ...folder.places, ...own.files, ...shared.files])
    const isUntouched = async (paths: Iterable<string>) => isStill(before, await lookAt(paths), begunMs)
    const MOVED = { version: null, moved: true }
    await sleep(STILL_MS)
    if (this.#closed || !(await isUntouched([...fixed, ...folder.inputs]))) return MOVED
    if (usualEntries(home)?.every((entry) => before.get(join(home, entry)) === '')) {
      this.#withdraw(name, folder)
      folder.failed = false
      return { version: null, moved: false }
    }
    let built: BuiltFolder
    try {
      built = await buildFolder(home, ceilings, (path) => builder.bundleFolder(project.id, path))
    } catch (error) {
      folder.places = packagePlaces(home, ((error as Error).cause as BundleFailure | undefined)?.missing ?? [])
      this.#watch(name, folder, own)
      const sources = [...own.files, ...shared.files].filter((path) => SOURCE.test(path))
      // A half-saved state is not reported; and a package may have been installed during the build.
      if (!(await isUntouched([...fixed, ...sources]))) return MOVED
      throw error
    }
    folder.inputs = new Set(built.inputs)
    folder.places = packagePlaces(home, [])
    this.#watch(name, folder, own)
    const unchanged = () => isUntouched([...fixed, ...folder.inputs, ...folder.places])
    if (!(await unchanged())) return MOVED
    await builder.keepFolder(home, built.bundle, unchanged)
    const version = await this.#serve(name, folder, built)
    folder.failed = false
    return { version, moved: false }
  }

  /** Returns the new version, or null when the files produce the version already served. */
  async #serve(name: string, folder: Folder, built: BuiltFolder): Promise<FunctionVersion | null> {
    const { root, project, functions, store } = this.#options
    const shared = await readEnvFile(join(root, '.env'))
    const env = environmentOf(project, built.policy, { project: shared, own: built.secrets })
    const digest = digestOf(built.archive)
    const fingerprint = JSON.stringify([digest, built.policy, env])
    if (fingerprint === folder.fingerprint) {
      this.#govern(name, folder)
      return null
    }
    const ignored = ignoredNames(shared, built.secrets)
    if (ignored.length > 0) this.#options.onIgnored(name, ignored)
    const isWanted = () => this.#folders.get(name) === folder
    const govern = (live: FunctionVersion) => admitting(live, readAdmission(folder.home))
    const version = await store.use({ project: project.id, name }, digest, async () => {
      const facts = { project: project.id, name, version: 0, policy: built.policy, env }
      const added = await store.add(built.archive, facts)
      if (!isWanted()) return null
      await functions.install(added, { govern })
      return added
    })
    if (version === null) return null
    void this.#lookAtTypes(folder, version, built)
    const former = folder.version
    folder.version = version
    folder.fingerprint = fingerprint
    if (!isWanted()) this.#withdraw(name, folder)
    if (former && former.codeDir !== version.codeDir) void store.discard(former, functions)
    return version
  }

  /** Runs after the version is served, so that it delays no call. */
  async #lookAtTypes(folder: Folder, version: FunctionVersion, { bundle }: BuiltFolder): Promise<void> {
    folder.types = null
    if (!this.#options.checkTypes) return
    await sleep(TYPES_AFTER_MS, undefined, { ref: false })
    if (this.#closed || folder.version !== version) return
    const found = await this.#options.builder.typesOf(folder.home, bundle).catch(() => null)
    if (!found || this.#closed || folder.version !== version) return
    folder.types = found
    this.#options.onTypes(version, found)
  }

  #watch(name: string, { home, realHome, fixed, inputs, places }: Folder, own: Tree): void {
    if (this.#closed || !this.#folders.has(name)) return
    const folders = new Set([home, realHome, dirname(realHome), ...own.folders, ...places.map(dirname)])
    for (const input of [...fixed, ...inputs]) {
      if (input.includes(`${sep}node_modules${sep}`)) continue
      // Also the parent folders, because a folder that is removed and made again is noticed by its parent.
      for (let at = dirname(input); !folders.has(at); at = dirname(at)) {
        folders.add(at)
        if (!at.startsWith(this.#options.root + sep)) break
      }
    }
    this.#watcher.watch(name, folders)
  }
}

const SOURCE = /\.(?:[cm]?[jt]sx?|jsonc?|env)$/

/** True for the folder itself and its contents, without installed packages. */
function isBelow(path: string, folder: string): boolean {
  if (path === folder) return true
  return path.startsWith(folder + sep) && !path.startsWith(join(folder, 'node_modules') + sep)
}

function ignore(): void {}
