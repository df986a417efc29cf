import { statSync, watch, type FSWatcher } from 'node:fs'
import { dirname, join } from 'node:path'

interface Watched {
  readonly watcher: FSWatcher
  readonly inode: number
}

/**
 * Watches folders, which may appear and disappear, for several owners. Editors replace files instead of writing them,
 * so the folder of a file is watched instead of the file.
 */
export class FolderWatcher implements Disposable {
  readonly #onChange: (path: string) => void
  readonly #onError: (error: unknown) => void
  readonly #watched = new Map<string, Watched>()
  readonly #wanted = new Map<string, ReadonlySet<string>>()

  /**
   * @param onChange called with the absolute path of anything that changed, appeared or disappeared in a watched folder
   * @param onError called for a folder that the system cannot watch: its changes go unnoticed
   */
  constructor(onChange: (path: string) => void, onError: (error: unknown) => void) {
    this.#onChange = onChange
    this.#onError = onError
  }

  /**
   * Watches these folders for an owner, instead of its former ones. An absent folder is replaced by its nearest
   * existing ancestor.
   */
  watch(owner: string, folders: Iterable<string>): void {
    const wanted = new Set<string>()
    for (const folder of folders) wanted.add(this.#ensure(folder))
    const before = this.#wanted.get(owner)
    this.#wanted.set(owner, wanted)
    for (const folder of before ?? []) if (!wanted.has(folder)) this.#release(folder)
  }

  forget(owner: string): void {
    this.watch(owner, [])
    this.#wanted.delete(owner)
  }

  [Symbol.dispose](): void {
    for (const { watcher } of this.#watched.values()) watcher.close()
    this.#watched.clear()
    this.#wanted.clear()
  }

  /** Watches the folder, or the nearest ancestor that exists, and returns which. */
  #ensure(folder: string): string {
    for (let at = folder; ; at = dirname(at)) {
      const inode = statSync(at, { throwIfNoEntry: false })?.ino ?? 0
      if (inode === 0 && dirname(at) !== at) continue
      const known = this.#watched.get(at)
      // A folder that was removed and created again has the same name but another inode, and is not watched.
      if (known?.inode === inode) return at
      known?.watcher.close()
      this.#watched.delete(at)
      try {
        const watcher = watch(at, (_event, name) => this.#onChange(join(at, name ?? '')))
        watcher.on('error', () => watcher.close())
        this.#watched.set(at, { watcher, inode })
        return at
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        // The folder was just removed, or it is a file; its parent reports when it becomes a folder.
        if (code === 'ENOENT' || code === 'ENOTDIR') continue
        this.#onError(error)
        return at
      }
    }
  }

  #release(folder: string): void {
    for (const wanted of this.#wanted.values()) if (wanted.has(folder)) return
    this.#watched.get(folder)?.watcher.close()
    this.#watched.delete(folder)
  }
}
