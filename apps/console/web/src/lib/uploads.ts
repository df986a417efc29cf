import { uuidv7 } from '@terrane/core'
import { projectPath, request, session } from './api.ts'
import { readBuckets } from './files.ts'

/** Bucket for files uploaded by the page. */
export const UPLOADS = 'uploads'
/** Chunk size that clients of Supabase storage use. */
const CHUNK_BYTES = 6 * 1024 * 1024

/**
 * Uploads a file to storage, in chunks that are retried when the connection breaks. Returns `bucket/key`.
 *
 * @param onPercent called with the progress, 0 to 100
 * @param signal aborts the upload, and removes the parts that were sent
 */
export async function uploadFile(
  ref: string,
  file: File,
  onPercent: (percent: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  // The code is loaded only for uploads.
  const [{ Upload }] = await Promise.all([import('tus-js-client'), makeBucket(ref)])
  // Files of one name may be uploaded in the same second, from two folders that are dropped together.
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  let key = `${time}-${uuidv7().slice(-8)}/${safeName(file.name)}`
  await new Promise<void>((resolve, reject) => {
    const metadata = { bucketName: UPLOADS, objectName: key, contentType: file.type || 'application/octet-stream' }
    const upload = new Upload(file, {
      endpoint: new URL(projectPath(ref, '/storage/v1/upload/resumable'), location.href).href,
      chunkSize: CHUNK_BYTES,
      retryDelays: [0, 1000, 3000, 5000, 10_000],
      // An upload that was interrupted by closing the page is resumed when the same file is chosen again.
      removeFingerprintOnSuccess: true,
      headers: { 'x-csrf-token': session.get()?.csrf_token ?? '' },
      metadata,
      onProgress: (sent, total) => onPercent(total > 0 ? (100 * sent) / total : 100),
      onSuccess: () => {
        // A completed upload cannot be aborted, because the storage would answer 404.
        signal?.removeEventListener('abort', stop)
        resolve()
      },
      onError: (error) => {
        // The bucket may have been deleted meanwhile.
        withBucket.delete(ref)
        reject(error)
      },
    })
    const begin = async () => {
      const [earlier] = await upload.findPreviousUploads()
      if (earlier) {
        upload.resumeFromPreviousUpload(earlier)
        key = metadata.objectName = earlier.metadata['objectName'] ?? key
      }
      upload.start()
    }
    const stop = () => {
      reject(signal?.reason as Error)
      upload.abort(true).catch(() => {})
    }
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    else begin().catch(reject)
  })
  return `${UPLOADS}/${key}`
}

/** A valid storage key from any file name. */
function safeName(name: string): string {
  return name.replaceAll(/[^\w.-]+/g, '_') || 'file'
}

/** Projects whose bucket is known to exist. */
const withBucket = new Set<string>()

/** Creates the bucket for uploads, unless this page knows that it exists. */
async function makeBucket(ref: string): Promise<void> {
  if (withBucket.has(ref)) return
  const buckets = await readBuckets(ref)
  if (buckets.some(({ name }) => name === UPLOADS)) {
    withBucket.add(ref)
    return
  }
  await request('POST', projectPath(ref, '/storage/v1/bucket'), { name: UPLOADS }).catch((error: unknown) => {
    const { problem } = error as { problem?: { status: number } }
    // Another page has created the bucket meanwhile.
    if (problem?.status !== 409) throw error
  })
  withBucket.add(ref)
}
