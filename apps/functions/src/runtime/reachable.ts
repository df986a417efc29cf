import { createHash } from 'node:crypto'
import { copyFile, link, lstat, mkdir, realpath, rename, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { runtimeUnavailable } from '../errors.ts'

/** True when any user may traverse every folder above a path. */
export async function isReachable(path: string): Promise<boolean> {
  for (let at = dirname(await realpath(path)); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false
    if (at === dirname(at)) return true
  }
}

/**
 * A substitute for a folder that other users cannot reach: it belongs to this user, and others may traverse it but not
 * write. The same folder always gets the same substitute.
 *
 * @throws FUNCTION_RUNTIME_UNAVAILABLE when another user has put something in its place, or other users cannot reach the
 * temporary directory either
 */
export async function reachableTwin(folder: string): Promise<string> {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const twin = join(tmpdir(), `terrane-functions-${name}`)
  await mkdir(twin, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const facts = await lstat(twin)
  const isOurs = facts.isDirectory() && facts.uid === process.getuid!() && (facts.mode & 0o022) === 0
  if (isOurs && (await isReachable(twin))) return twin
  if (isOurs) {
    throw runtimeUnavailable({
      problem: `functions run as a user without rights, who can reach neither ${folder} nor ${tmpdir()}`,
      remedy: 'set TERRANE_HOME or TMPDIR to a folder that every user may pass to',
    })
  }
  throw runtimeUnavailable({
    problem: `${twin} is not a folder that only this user can write`,
    remedy: 'remove it, or set TERRANE_HOME to a folder that every user may pass to',
  })
}

/** A path of a program that every user can reach: the original, or a link or copy of it in `folder`. */
export async function reachableProgram(program: string, folder: string): Promise<string> {
  if (await isReachable(program)) return program
  const { size, mtimeMs } = await stat(program)
  const twin = join(folder, `${basename(program)}-${size}-${Math.floor(mtimeMs)}`)
  if (await stat(twin).catch(() => null)) return twin
  const draft = `${twin}.${process.pid}`
  await link(program, draft).catch(() => copyFile(program, draft))
  await rename(draft, twin)
  return twin
}
