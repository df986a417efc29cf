import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The path of a program that Node can run. Where a package or a bundle carries the program as text, it is written to the work
 * folder.
 *
 * @param address a `file:` address, or a `data:` address in base64
 */
export function programPath(address: URL, workdir: string): string {
  if (address.protocol === 'file:') return fileURLToPath(address)
  const program = Buffer.from(address.pathname.slice(address.pathname.indexOf(',') + 1), 'base64')
  const path = join(workdir, `program-${createHash('sha256').update(program).digest('hex').slice(0, 16)}.mjs`)
  writeFileSync(path, program)
  return path
}
