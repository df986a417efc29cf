// Loaded with the shim by functions whose code mentions /tmp. It adds no permission: the files are memory of this
// process.
import { leaveAlone, openVolume } from './volume.ts'
import { keepNodeFiles, type NodeFs } from './node-files.ts'
import { keepDenoFiles, type DenoFiles } from './deno-files.ts'

/**
 * Replaces `/tmp` by a folder in memory, for Deno's and for Node's file functions.
 *
 * @param deno absent on other runtimes
 * @param code folder of the function's own files, which may be in the host's `/tmp`
 * @param limitBytes largest total size of its files
 */
export function keepTmp(fs: NodeFs, deno: DenoFiles | null, code: string, limitBytes: number): void {
  leaveAlone(code)
  const volume = openVolume(limitBytes)
  if (deno) keepDenoFiles(deno, volume)
  keepNodeFiles(fs, volume)
}
