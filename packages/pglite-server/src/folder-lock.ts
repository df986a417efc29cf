import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5

/**
 * Takes a data folder for this process; null when another has it. Two servers on one folder destroy what is in it.
 *
 * The lock is the one that SQLite holds on a file beside the folder: the operating system lets go of it when the process
 * ends, however it ends, so that none is ever left behind.
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
