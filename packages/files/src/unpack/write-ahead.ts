import { open } from 'node:fs/promises'

/**
 * Offset of the write and read versions in the header of a database file (SQLite file format, 1.3): 2 for write-ahead
 * logging, 1 for none.
 */
const FORMAT_VERSIONS = 18

/**
 * Turns off the write-ahead mode of a database file, because its log is not available and readers would refuse the
 * file. Resolves to whether the mode was on.
 */
export async function readWithoutLog(path: string): Promise<boolean> {
  await using file = await open(path, 'r+')
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, FORMAT_VERSIONS)
  if (buffer[0] !== 2 && buffer[1] !== 2) return false
  await file.write(Buffer.of(1, 1), 0, 2, FORMAT_VERSIONS)
  return true
}
