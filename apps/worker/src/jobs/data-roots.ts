import { realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'

/** The real path of a file under one of the roots (relative paths try each), null if it is missing or outside. */
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
