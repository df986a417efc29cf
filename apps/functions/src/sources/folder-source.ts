import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ENTRIES, configTomlFile, type TypeCheck } from '@terrane/bundler'
import { LatestFirst } from '../build/latest-first.ts'
import { nameInvalid } from '../errors.ts'
import type { LiveFunction } from '../functions.ts'
import { FUNCTION_NAME } from '../policy.ts'
import type { FolderContext, FolderOptions } from './folder-context.ts'
import { isEnabled } from './function-folder.ts'
import { ServedFolder } from './served-folder.ts'
import { FolderWatcher } from './watcher.ts'

/** Maximum number of folders that are read and built concurrently, besides folders with a waiting call. */
const AT_ONCE = 16
/** Longest time that a call waits for the first build of its function. */
const FIRST_BUILD_MS = 20_000

/**
 * Serves the functions of a folder and follows its files. Saved changes are served once code and policy have stopped
 * changing. As soon as a stricter policy is on disk, callers are no longer admitted under the weaker one.
 */
export class FolderSource implements AsyncDisposable {
  readonly #context: FolderContext
  readonly #folders = new Map<string, ServedFolder>()
  readonly #misnamed = new Set<string>()
  #scanning: Promise<void> | null = null
  #scanAgain = false
  #closed = false

  constructor(options: FolderOptions) {
    const watcher = new FolderWatcher(
      (path) => this.#changed(path),
      (error) => options.events.failed('', error),
    )
    this.#context = { ...options, watcher, line: new LatestFirst(AT_ONCE), isClosed: () => this.#closed }
  }

  /** Finds the functions and begins to watch. They are built afterwards; a call waits for its own function. */
  async open(): Promise<void> {
    await this.#scan()
    await this.#context.served?.keep([...this.#folders.keys()])
  }

  /** True for the name of a function that is in the folder, built or not. */
  has(name: string): boolean {
    return this.#folders.get(name)?.isThere === true
  }

  /** Result of the type check of a served function; null before the check. */
  typesOf(name: string): TypeCheck | null {
    return this.#folders.get(name)?.types ?? null
  }

  /** The function after its first build; undefined when it does not exist or cannot be built. */
  find(projectId: string, name: string): Promise<LiveFunction | undefined> | undefined {
    const { functions, project, builder, line } = this.#context
    const folder = projectId === project.id ? this.#folders.get(name) : undefined
    const settling = folder?.settling
    if (!settling || folder.isWithoutImports) return undefined
    line.hurry(name)
    builder.hurry(project.id, folder.home)
    const waited = new AbortController()
    const enough = sleep(FIRST_BUILD_MS, undefined, { signal: waited.signal, ref: false }).catch(ignore)
    return Promise.race([settling, enough]).then(() => {
      waited.abort()
      return functions.get(project.id, name)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { watcher, builder, project, line } = this.#context
    this.#closed = true
    watcher[Symbol.dispose]()
    builder.abandon(project.id)
    line.hurryAll()
    await this.#scanning
    for (const { settling } of this.#folders.values()) await settling
  }

  #changed(path: string): void {
    if (this.#closed) return
    const { root } = this.#context
    const isConfig = path === configTomlFile(join(root, 'name'))
    if (isConfig || dirname(path) === root || path === root) void this.#scan()
    for (const folder of this.#folders.values()) folder.change(path, isConfig)
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
    const { root, functions, project, watcher } = this.#context
    while (this.#scanAgain && !this.#closed) {
      this.#scanAgain = false
      watcher.watch('', [root, dirname(root)])
      const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
      const folders = entries.filter((entry) => !entry.isFile()).map((entry) => entry.name)
      const names = new Set(folders.filter((name) => FUNCTION_NAME.test(name)))
      await this.#reportMisnamed(folders.filter((name) => !FUNCTION_NAME.test(name)))
      names.delete('node_modules')
      for (const name of names) if (!isEnabled(join(root, name))) names.delete(name)
      for (const name of this.#folders.keys()) if (!names.has(name)) this.#forget(name)
      for (const name of names) {
        if (this.#folders.has(name)) continue
        const folder = new ServedFolder(name, this.#context)
        this.#folders.set(name, folder)
        functions.markBroken(project.id, name)
        void folder.settle()
      }
    }
  }

  /** Reports folders that hold a function but cannot be one by their name, once each. */
  async #reportMisnamed(names: readonly string[]): Promise<void> {
    const { root, events } = this.#context
    for (const name of names) {
      if (/^[._]/.test(name) || this.#misnamed.has(name)) continue
      const files: readonly string[] = await readdir(join(root, name)).catch(() => [])
      if (!ENTRIES.some((entry) => files.includes(entry))) continue
      this.#misnamed.add(name)
      events.failed(name, nameInvalid({ name }))
    }
  }

  #forget(name: string): void {
    this.#folders.get(name)?.forget()
    this.#folders.delete(name)
  }
}

function ignore(): void {}
