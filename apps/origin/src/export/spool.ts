import { mkdtemp, open, rm, stat, statfs, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportTooLarge, noRoom } from './errors.ts'

/** Bytes of the disk that stay free for other uses. */
const SPARE_BYTES = 256 * 2 ** 20
const FULL = new Set(['ENOSPC', 'EDQUOT'])
/** SQLite's error code for a full disk or file. */
const SQLITE_FULL = 13

/**
 * Writes a temporary file, opens it and unlinks it, so that it is deleted when it is closed. It is also removed when
 * the writing fails.
 *
 * @param write gets the path, and a wrapper of a stream that checks the file's size between batches
 * @param spareBytes of the disk that stay free
 * @throws EXPORT_TOO_LARGE (413), EXPORT_NO_ROOM (507)
 */
export async function spooled(
  mostBytes: number,
  write: (path: string, bounded: <T>(batches: AsyncIterable<T>) => AsyncGenerator<T>) => Promise<void>,
  spareBytes: number = SPARE_BYTES,
): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-export-'))
  try {
    const path = join(folder, 'file')
    const look = async () => {
      const { bavail, bsize } = await statfs(folder)
      if (bavail * bsize < spareBytes) throw noRoom(bavail * bsize, spareBytes)
      const size = await stat(path).then(
        (found) => found.size,
        () => 0,
      )
      if (size > mostBytes) throw exportTooLarge(mostBytes)
    }
    await look()
    await write(path, async function* (batches) {
      for await (const batch of batches) {
        yield batch
        await look()
      }
    })
    await look()
    return await open(path)
  } catch (error) {
    const { code, errcode } = error as { code?: string; errcode?: number }
    if (!FULL.has(code ?? '') && errcode !== SQLITE_FULL) throw error
    const { bavail, bsize } = await statfs(folder)
    throw noRoom(bavail * bsize, spareBytes)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
