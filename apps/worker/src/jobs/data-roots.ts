import { realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'

/**
 * The real path of the file that a path names under one of the roots, null when there is none. Symbolic links are
 * resolved, so a path that leads out of the roots gives the same answer as a missing file. A relative path is looked
 * for in each root in turn.
 */
export async function findUnderRoots(roots: readonly string[], path: string): Promise<string | null> {
  for (const root of roots) {
    try {
      const base = await realpath(root)
      const real = await realpath(resolve(base, path))
      if (real.startsWith(base + sep) && (await stat(real)).isFile()) return real
    } catch {
      // The file is not under this root.
    }
  }
  return null
}
