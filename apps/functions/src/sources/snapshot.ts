import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** State of files at one moment, by absolute path. Equal values mean that the file was not changed. */
export type Snapshot = ReadonlyMap<string, string>

/** A folder with its contents, without installed packages. */
export interface Tree {
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

const MAX_ENTRIES = 5000

/** Reads the state of files, which may be absent. Links are followed. */
export async function lookAt(paths: Iterable<string>): Promise<Snapshot> {
  const looks = [...new Set(paths)].map(async (path) => [path, await look(path)] as const)
  return new Map(await Promise.all(looks))
}

/**
 * True when no file of the second snapshot was changed since the first began. For files missing in the first, the
 * modification time decides.
 *
 * @param begunMs when the first look began, by `Date.now()`
 */
export function isStill(first: Snapshot, second: Snapshot, begunMs: number): boolean {
  for (const [path, seen] of second) {
    if (first.has(path) ? first.get(path) !== seen : !isOlder(seen, begunMs)) return false
  }
  return true
}

/**
 * Contents of a folder, at most {@link MAX_ENTRIES} entries. A folder that contains itself through a link is listed
 * once.
 */
export async function treeOf(folder: string): Promise<Tree> {
  const folders: string[] = []
  const files: string[] = []
  const entered = new Set<string>()
  const waiting = [folder]
  for (let at = waiting.pop(); at !== undefined && folders.length + files.length < MAX_ENTRIES; at = waiting.pop()) {
    const real = await realpath(at).catch(() => null)
    if (real === null || entered.has(real)) continue
    entered.add(real)
    const entries = await readdir(at, { withFileTypes: true }).catch(() => null)
    if (!entries) continue
    folders.push(at)
    for (const entry of entries) {
      const path = join(at, entry.name)
      if (entry.name === 'node_modules' || entry.name === '.git') continue
      const isFolder =
        entry.isDirectory() || (entry.isSymbolicLink() && (await stat(path).catch(() => null))?.isDirectory())
      if (isFolder) waiting.push(path)
      else files.push(path)
    }
  }
  return { folders, files }
}

/** The kernel's file timestamps have a coarser resolution than ours. */
const CLOCK_MS = 20

function isOlder(seen: string, begunMs: number): boolean {
  return seen !== '' && Number(BigInt(seen.slice(0, seen.indexOf(' '))) / 1_000_000n) < begunMs - CLOCK_MS
}

async function look(path: string): Promise<string> {
  const facts = await stat(path, { bigint: true }).catch(() => null)
  return facts ? `${facts.ctimeNs} ${facts.mtimeNs} ${facts.ino} ${facts.size}` : ''
}
