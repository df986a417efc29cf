import { readdir } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { digestOf } from '../bundle/archive.ts'
import { environmentOf } from '../environment.ts'
import type { FunctionVersion } from '../function-version.ts'
import type { Functions } from '../functions.ts'
import { FUNCTION_NAME, type Ceilings } from '../policy.ts'
import type { Project } from '../projects/project.ts'
import type { VersionStore } from '../version-store.ts'
import { buildFolder, fixedInputs, readEnvFile } from './function-folder.ts'
import { FileWatcher } from './watcher.ts'

export interface FolderSourceOptions {
  /** Folder with one folder per function, `_shared`, and `.env`. */
  readonly root: string
  readonly project: Project
  readonly ceilings: Ceilings
  readonly functions: Functions
  readonly store: VersionStore
  readonly onBuilt: (version: FunctionVersion, ms: number) => void
  readonly onFailed: (name: string, error: unknown) => void
}

interface Folder {
  /** Absolute paths whose change calls for a new build. */
  inputs: ReadonlySet<string>
  /** What the last good build made; equal means there is nothing to do. */
  fingerprint: string
  version: FunctionVersion | null
  failed: boolean
  /** A build is under way; `again` asks for another one after it. */
  building: Promise<void> | null
  again: boolean
}

/** Several events belong to one act of saving. */
const DEBOUNCE_MS = 20

/** Serves the functions of a folder and follows its files: saved is served. */
export class FolderSource implements AsyncDisposable {
  private readonly options: FolderSourceOptions
  private readonly folders = new Map<string, Folder>()
  private readonly watcher: FileWatcher
  private readonly timers = new Map<string, NodeJS.Timeout>()
  private scanning: Promise<void> = Promise.resolve()
  private closed = false

  constructor(options: FolderSourceOptions) {
    this.options = options
    this.watcher = new FileWatcher((path) => this.changed(path))
  }

  /** Builds every function once and begins to watch; a function that cannot be built is reported and tried again. */
  async open(): Promise<void> {
    await this.scan()
    this.watchAll()
  }

  /** True for the name of a function that is in the folder, built or not. */
  has(name: string): boolean {
    return this.folders.has(name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true
    this.watcher[Symbol.dispose]()
    for (const timer of this.timers.values()) clearTimeout(timer)
    await this.scanning
    for (const { building } of this.folders.values()) await building
  }

  private changed(path: string): void {
    const { root } = this.options
    if (dirname(path) === root || path === root) this.later('', () => this.rescan())
    for (const [name, folder] of this.folders) {
      // After a failure any file may be the one that was missing.
      if (folder.failed || folder.inputs.has(path)) this.later(name, () => void this.build(name))
    }
  }

  private later(key: string, act: () => void): void {
    clearTimeout(this.timers.get(key))
    this.timers.set(key, setTimeout(act, DEBOUNCE_MS))
  }

  private rescan(): void {
    this.scanning = this.scanning.then(() => this.scan()).then(() => this.watchAll())
  }

  private async scan(): Promise<void> {
    if (this.closed) return
    const { root, functions, project } = this.options
    const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
    const names = new Set(
      entries.filter((entry) => !entry.isFile() && FUNCTION_NAME.test(entry.name)).map((entry) => entry.name),
    )
    names.delete('node_modules')
    for (const name of this.folders.keys()) {
      if (names.has(name)) continue
      this.folders.delete(name)
      functions.remove(project.ref, name)
    }
    await Promise.all([...names].map((name) => this.build(name)))
  }

  private watchAll(): void {
    if (this.closed) return
    const { root } = this.options
    const files = [join(root, '.env')]
    for (const [name, folder] of this.folders) {
      files.push(...fixedInputs(join(root, name)))
      for (const input of folder.inputs) {
        if (input.includes(`${sep}node_modules${sep}`)) continue
        files.push(input)
        // The folders on the way too: one that is removed and made again is noticed by its parent.
        for (let at = dirname(input); at.startsWith(root + sep); at = dirname(at)) files.push(at)
      }
    }
    this.watcher.watch(files)
  }

  private build(name: string): Promise<void> {
    const folder: Folder = this.folders.get(name) ?? {
      inputs: new Set(),
      fingerprint: '',
      version: null,
      failed: false,
      building: null,
      again: false,
    }
    this.folders.set(name, folder)
    if (folder.building) {
      folder.again = true
      return folder.building
    }
    folder.building = this.buildUntilStill(name, folder).finally(() => {
      folder.building = null
      this.watchAll()
    })
    return folder.building
  }

  private async buildUntilStill(name: string, folder: Folder): Promise<void> {
    do {
      folder.again = false
      const begun = performance.now()
      try {
        const version = await this.buildOnce(name, folder)
        folder.failed = false
        if (version) this.options.onBuilt(version, performance.now() - begun)
      } catch (error) {
        folder.failed = true
        folder.fingerprint = ''
        if (!folder.version) this.options.functions.markBroken(this.options.project.ref, name)
        this.options.onFailed(name, error)
      }
    } while (folder.again && !this.closed)
  }

  /** Returns the new version, or null when the files make what is served already. */
  private async buildOnce(name: string, folder: Folder): Promise<FunctionVersion | null> {
    const { root, project, ceilings, functions, store } = this.options
    const shared = join(root, '.env')
    const built = await buildFolder(join(root, name), ceilings)
    folder.inputs = new Set([...built.inputs, shared, join(root, 'deno.json')])
    const env = environmentOf(project, built.policy, { project: await readEnvFile(shared), own: built.secrets })
    const digest = digestOf(built.archive)
    const fingerprint = JSON.stringify([digest, built.policy, env])
    if (fingerprint === folder.fingerprint) return null
    const version = await store.use(project.ref, digest, async () => {
      const facts = { project: project.ref, name, version: 0, policy: built.policy, env }
      const added = await store.add(built.archive, facts)
      if (!this.folders.has(name)) return null
      await functions.install(added)
      return added
    })
    if (version === null) return null
    const former = folder.version
    folder.version = version
    folder.fingerprint = fingerprint
    if (former && former.codeDir !== version.codeDir) void store.discard(former, functions)
    return version
  }
}
