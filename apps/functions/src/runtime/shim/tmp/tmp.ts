// Loaded beside the shim by functions whose code speaks of /tmp. It gives no right: what is kept is memory of this process.
import { leaveAlone, openVolume } from './volume.ts'
import { keepNodeFiles, type NodeFs } from './node-files.ts'
import { keepDenoFiles, type DenoFiles } from './deno-files.ts'

/**
 * Puts a folder in memory in the place of `/tmp`, for Deno's and for Node's file functions.
 *
 * @param deno absent where there are none of its functions
 * @param code folder of the function's own files, which may lie in the host's `/tmp`
 * @param limitBytes most that its files may hold together
 */
export function keepTmp(fs: NodeFs, deno: DenoFiles | null, code: string, limitBytes: number): void {
  leaveAlone(code)
  const volume = openVolume(limitBytes)
  if (deno) keepDenoFiles(deno, volume)
  keepNodeFiles(fs, volume)
}
