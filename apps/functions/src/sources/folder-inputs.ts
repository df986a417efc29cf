import { dirname, join, sep } from 'node:path'
import { packagePlaces } from '../build/package-places.ts'
import { fixedInputs } from './function-folder.ts'

interface Paths {
  /** The folder, and its real path if it is a link. */
  readonly home: string
  readonly realHome: string
  /** Paths that are inputs for every state of the folder. */
  readonly fixed: ReadonlySet<string>
  /** Files of the last build. */
  readonly inputs: ReadonlySet<string>
  /** Files whose changes show that packages were installed. */
  readonly places: readonly string[]
}

/** The files that a function depends on, by their absolute paths. Immutable. */
export class FolderInputs {
  readonly #root: string
  readonly #paths: Paths

  private constructor(root: string, paths: Paths) {
    this.#root = root
    this.#paths = paths
  }

  /** The inputs of a folder that was not built yet. */
  static of(root: string, home: string): FolderInputs {
    const fixed = new Set(fixedInputs(home))
    return new FolderInputs(root, { home, realHome: home, fixed, inputs: new Set(), places: packagePlaces(home, []) })
  }

  /** The same with some paths replaced. */
  with(paths: Partial<Paths>): FolderInputs {
    return new FolderInputs(this.#root, { ...this.#paths, ...paths })
  }

  /** Files that go into a build. */
  get read(): string[] {
    return [...this.#paths.fixed, ...this.#paths.inputs]
  }

  /** Files and folders whose changes are noticed. */
  get all(): string[] {
    return [...this.read, ...this.#paths.places]
  }

  /** True for the folder itself and its contents, without installed packages. */
  isOwn(path: string): boolean {
    return isBelow(path, this.#paths.home) || isBelow(path, this.#paths.realHome)
  }

  /**
   * True for a change after which the function has to be built again.
   *
   * @param hasFailed true after a failed build: any file may be the one that was missing
   */
  concerns(path: string, hasFailed: boolean): boolean {
    const { fixed, inputs, places } = this.#paths
    return (
      this.isOwn(path) ||
      (hasFailed && isBelow(path, this.#root)) ||
      fixed.has(path) ||
      inputs.has(path) ||
      this.#isShared(path) ||
      places.some((place) => place === path || place.startsWith(path + sep))
    )
  }

  /** Folders whose changes are to be noticed. @param own folders of the function */
  foldersToWatch(own: readonly string[]): Set<string> {
    const { home, realHome, places } = this.#paths
    const folders = new Set([home, realHome, dirname(realHome), ...own, ...places.map(dirname)])
    for (const input of this.read) {
      if (input.includes(`${sep}node_modules${sep}`)) continue
      // Also the parent folders, because a folder that is removed and made again is noticed by its parent.
      for (let at = dirname(input); !folders.has(at); at = dirname(at)) {
        folders.add(at)
        if (!at.startsWith(this.#root + sep)) break
      }
    }
    return folders
  }

  /** A new file beside a shared one may take its place in module resolution. */
  #isShared(path: string): boolean {
    const shared = join(this.#root, '_shared') + sep
    return path.startsWith(shared) && [...this.#paths.inputs].some((input) => input.startsWith(shared))
  }
}

function isBelow(path: string, folder: string): boolean {
  if (path === folder) return true
  return path.startsWith(folder + sep) && !path.startsWith(join(folder, 'node_modules') + sep)
}
