import { statSync, watch, type FSWatcher } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Watches the folders that hold a set of files, which may come and go: editors replace files instead of writing them,
 * so it is the folder that has to be looked at.
 */
export class FileWatcher implements Disposable {
  private readonly onChange: (path: string) => void
  private readonly folders = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>()

  /** @param onChange called with the absolute path of whatever changed, appeared or went in a watched folder */
  constructor(onChange: (path: string) => void) {
    this.onChange = onChange
  }

  /** Watches the folders of these files, and no others. */
  watch(files: Iterable<string>): void {
    const wanted = new Set<string>()
    for (const file of files) wanted.add(dirname(file))
    for (const [folder, { watcher, inode }] of this.folders) {
      // A folder that was removed and made again has the same name and is not the one that is watched.
      if (wanted.has(folder) && inodeOf(folder) === inode) continue
      watcher.close()
      this.folders.delete(folder)
    }
    for (const folder of wanted) if (!this.folders.has(folder)) this.add(folder)
  }

  [Symbol.dispose](): void {
    for (const { watcher } of this.folders.values()) watcher.close()
    this.folders.clear()
  }

  private add(folder: string): void {
    const inode = inodeOf(folder)
    // What does not exist now has a parent that is watched too and will tell when it does.
    if (inode === 0) return
    const watcher = watch(folder, (_event, name) => this.onChange(join(folder, name ?? '')))
    watcher.on('error', () => watcher.close())
    this.folders.set(folder, { watcher, inode })
  }
}

function inodeOf(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.ino ?? 0
}
