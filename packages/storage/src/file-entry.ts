import { randomUUID } from 'node:crypto'
import { link, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { storageFull } from './errors.ts'
import type { ObjectInfo } from './object-store.ts'

/** The JSON file beside an object: it names the file of bytes that is the object's content now. */
export interface Entry {
  readonly key: string
  readonly version: string
  readonly size: number
  readonly contentType: string
  readonly cacheControl: string
  readonly etag: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly createdAt: string
  readonly updatedAt: string
}

/** The public record of an object. */
export function toInfo(bucket: string, entry: Entry): ObjectInfo {
  const { version: _, createdAt, updatedAt, ...rest } = entry
  return { bucket, ...rest, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) }
}

/** Writes a JSON file below a root atomically; false when it exists and may not be replaced. */
export async function writeJson(root: string, path: string, value: unknown, replace: boolean): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = join(root, `.${randomUUID()}.tmp`)
  {
    await using file = await open(temporary, 'wx')
    try {
      await file.writeFile(JSON.stringify(value))
      await file.sync()
    } catch (error) {
      await unlink(temporary).catch(ignore)
      throw fullOr(error)
    }
  }
  try {
    if (replace) {
      await rename(temporary, path)
      return true
    }
    await link(temporary, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    if (!replace) await unlink(temporary).catch(ignore)
  }
}

/** Converts the error of a full disk to STORAGE_FULL; other errors are unchanged. */
export function fullOr(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' ? storageFull(undefined, { cause: error }) : error
}

function ignore(): void {}
