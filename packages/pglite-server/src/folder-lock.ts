import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5

/**
 * Locks a data folder for this process; null when another process has it. Two servers on one folder destroy its data.
 *
 * SQLite locks a file beside the folder. The operating system releases the lock when the process ends, also by a crash.
 *
 * @example
 *   using lock = lockFolder('data/pglite')
 *   if (lock === null) throw new Error('another process has the folder')
 */
export function lockFolder(dataDir: string): Disposable | null {
  mkdirSync(dirname(dataDir), { recursive: true })
  const file = new DatabaseSync(`${dataDir}.lock`)
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null
    throw error
  }
  return { [Symbol.dispose]: () => file.close() }
}
