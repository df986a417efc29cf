import { bucketNotFound, objectNotFound, objectTooLarge, type ArtifactStore } from '@terrane/storage'

/** @throws BUCKET_NOT_FOUND */
export async function requireBucket(store: ArtifactStore, bucket: string): Promise<void> {
  if (!(await store.getBucket(bucket))) throw bucketNotFound({ bucket })
}

/** Refuses a stored file that the job could not read. @throws BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, OBJECT_TOO_LARGE */
export async function checkStoredObject(
  store: ArtifactStore,
  { bucket, path }: { readonly bucket: string; readonly path: string },
  maxBytes: number,
): Promise<void> {
  await requireBucket(store, bucket)
  const info = await store.head(bucket, path)
  if (!info) throw objectNotFound({ bucket, key: path })
  if (info.size > maxBytes) throw objectTooLarge({ limit: maxBytes })
}
