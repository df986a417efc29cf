import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A folder of the data that several checkouts of this project share, or null where there is none: beside the
 * repository, or where TERRANE_SHARED says.
 */
export function sharedFolder(name: string): string | null {
  // oxlint-disable-next-line node/no-process-env -- The documented place of the shared data.
  const root = process.env['TERRANE_SHARED'] ?? join(import.meta.dirname, '../../../../shared')
  const folder = join(root, name)
  return existsSync(folder) ? folder : null
}
