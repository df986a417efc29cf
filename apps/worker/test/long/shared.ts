import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A folder of data that is not part of the repository, null where it is absent: tests then say so in their names. */
export function sharedFolder(name: string): string | null {
  // oxlint-disable-next-line node/no-process-env -- where the data lies is a matter of the machine
  const root = process.env['TERRANE_SHARED'] ?? join(import.meta.dirname, '../../../../../shared')
  const folder = join(root, name)
  return existsSync(folder) ? folder : null
}
