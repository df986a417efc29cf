import { open, rm } from 'node:fs/promises'
import type { FetchOptions, GuardedFetch } from './guarded-fetch.ts'

/**
 * Streams a URL into a new file and returns its size in bytes. The file is removed when anything fails.
 *
 * @param path must not exist yet
 * @param onBytes called with the bytes written so far and the announced total, if any
 * @throws what {@link GuardedFetch} throws, and the error of the disk
 */
export async function downloadToFile(
  fetch: GuardedFetch,
  url: string,
  path: string,
  options: FetchOptions & { readonly onBytes?: (done: number, total: number | null) => void } = {},
): Promise<number> {
  const response = await fetch(url, options)
  const announced = Number(response.headers['content-length'] ?? Number.NaN)
  const total = Number.isFinite(announced) ? announced : null
  let done = 0
  try {
    await using file = await open(path, 'wx')
    for await (const chunk of response.body) {
      let offset = 0
      while (offset < chunk.byteLength) offset += (await file.write(chunk, offset)).bytesWritten
      done += chunk.byteLength
      options.onBytes?.(done, total)
    }
    return done
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    response.cancel()
  }
}
