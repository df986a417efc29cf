import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'

/**
 * The real path of a file that lies under one of the roots, null when there is none: links that lead out of a root are
 * not followed. A relative path is looked for in each root in turn.
 */
export async function findUnderRoots(roots: readonly string[], path: string): Promise<string | null> {
  if (path.includes('\0')) return null
  for (const root of roots) {
    try {
      const base = await realpath(root)
      const real = await realpath(resolve(base, path))
      const inside = relative(base, real)
      if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) continue
      if ((await stat(real)).isFile()) return real
    } catch {
      continue
    }
  }
  return null
}
