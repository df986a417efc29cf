import { swapIn, type JobRun } from '@terrane/database/staging'
import { upload } from '@terrane/storage'
import type { JobContext } from './task.ts'

/** Temporary name of a run's upload, and the names that uploads of lost runs of the job may have. */
export function uploadNames({ jobId, number, earlier }: JobRun) {
  return { temporaryName: `${jobId}.${number}`, abandonedNames: earlier.map((run) => `${jobId}.${run}`) }
}

/** Uploads the object of a job and publishes it together with the result, which has its ETag; replaces another. */
export async function publishObject<Result extends Readonly<Record<string, unknown>>>(
  { run, project, signal }: JobContext,
  address: { readonly bucket: string; readonly key: string },
  content: { readonly body: AsyncIterable<Uint8Array>; readonly contentType: string; readonly size: number },
  about: Result,
): Promise<Result & { readonly etag: string | null }> {
  const { contentType, size } = content
  const options = { contentType, size, upsert: true, signal, ...uploadNames(run) }
  const uploaded = await upload(project.store, address, content.body, options)
  const result = { ...about, etag: null as string | null }
  try {
    signal.throwIfAborted()
    // Once the object is published, the job can no longer be cancelled.
    await swapIn(project.database.withSignal(new AbortController().signal), run, [], result, async () => {
      result.etag = (await uploaded.place()).etag
    })
  } catch (error) {
    await uploaded.discard()
    throw error
  }
  return result
}
