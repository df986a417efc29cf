import { readFile, readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, posix, relative } from 'node:path'
import { bundleFailed } from '@terrane/bundler'

const MAX_FILES = 2000
const MAX_BYTES = 40 * 1024 * 1024
const MAX_DEPTH = 32

/**
 * Reads the static files of a function's folder that the policy names. Links are followed as long as they stay inside;
 * a folder that contains itself through a link is read once.
 *
 * @throws FUNCTION_BUNDLE_FAILED
 */
export async function readStatic(folder: string, patterns: readonly string[]): Promise<Map<string, Uint8Array>> {
  const found: Found = { root: await realpath(folder), files: new Map(), entered: new Set(), bytes: 0 }
  for (const pattern of patterns) {
    const path = pattern.replace(/\/\*\*$/, '')
    if (!isInside(path)) throw bundleFailed({ problems: [`static: '${pattern}' is not inside the folder`] })
    const before = found.files.size
    await collect(path, found, 0).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    if (found.files.size === before) throw bundleFailed({ problems: [noFile(pattern, '')] })
  }
  return found.files
}

/** Picks the static files among uploaded ones. @throws FUNCTION_BUNDLE_FAILED */
export function pickStatic(
  files: ReadonlyMap<string, Uint8Array>,
  patterns: readonly string[],
): Map<string, Uint8Array> {
  const picked = new Map<string, Uint8Array>()
  for (const pattern of patterns) {
    const root = pattern.replace(/\/\*\*$/, '')
    const matching = [...files].filter(([path]) => path === root || path.startsWith(`${root}/`))
    if (!isInside(root) || matching.length === 0) throw bundleFailed({ problems: [noFile(pattern, ' in the upload')] })
    for (const [path, bytes] of matching) picked.set(path, bytes)
  }
  const outside = [...picked.keys()].find((path) => !isInside(path))
  if (outside !== undefined) throw bundleFailed({ problems: [`static: '${outside}' is not a path inside the folder`] })
  return picked
}

/** True for a normalized relative path that stays inside its folder and is not the bundle's own `index.mjs`. */
export function isInside(path: string): boolean {
  return (
    path !== '' &&
    path !== 'index.mjs' &&
    !path.includes('\0') &&
    !isAbsolute(path) &&
    posix.normalize(path) === path &&
    !/^\.\.?(\/|$)/.test(path)
  )
}

function noFile(pattern: string, where: string): string {
  const advice = pattern.includes('*') ? ': name files, or folders with all that is in them (`views`, `views/**`)' : ''
  return `static: there is no file '${pattern}'${where}${advice}`
}

interface Found {
  readonly root: string
  readonly files: Map<string, Uint8Array>
  /** Real paths of the folders that were read. */
  readonly entered: Set<string>
  bytes: number
}

async function collect(path: string, found: Found, depth: number): Promise<void> {
  const real = await realpath(join(found.root, path))
  if (relative(found.root, real).startsWith('..'))
    throw bundleFailed({ problems: [`static: '${path}' leads out of the folder`] })
  const facts = await stat(real)
  if (facts.isDirectory()) {
    if (found.entered.has(real) || depth > MAX_DEPTH) return
    found.entered.add(real)
    for (const name of (await readdir(real)).toSorted()) await collect(`${path}/${name}`, found, depth + 1)
    return
  }
  if (!facts.isFile() || found.files.has(path)) return
  found.bytes += facts.size
  if (found.bytes > MAX_BYTES) throw bundleFailed({ problems: [`static: the files have more than ${MAX_BYTES} bytes`] })
  if (found.files.size >= MAX_FILES)
    throw bundleFailed({ problems: [`static: there are more than ${MAX_FILES} files`] })
  found.files.set(path, await readFile(real))
}
