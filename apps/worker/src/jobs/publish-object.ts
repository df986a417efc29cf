import { swapIn, type JobRun } from '@terrane/database/staging'
import { upload } from '@terrane/storage'
import type { JobContext } from './task.ts'

/** Names of what a run uploads before it is published, and those under which lost runs of the job may have left theirs. */
export function uploadNames({ jobId, number, earlier }: JobRun) {
  return { temporaryName: `${jobId}.${number}`, abandonedNames: earlier.map((run) => `${jobId}.${run}`) }
}

/**
 * Uploads the object that a job makes and puts it into its place together with the job's result, which gets the ETag. One that
 * is there is replaced.
 */
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
    // From the moment the object is in its place a cancellation comes too late.
    await swapIn(project.database.withSignal(new AbortController().signal), run, [], result, async () => {
      result.etag = (await uploaded.place()).etag
    })
  } catch (error) {
    await uploaded.discard()
    throw error
  }
  return result
}
