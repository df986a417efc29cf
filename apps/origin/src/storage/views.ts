import type { ObjectInfo } from '@terrane/storage'

/** An entry of a list, with its name relative to the listed folder. */
export function listEntry(info: ObjectInfo, name: string) {
  return {
    name,
    id: idOf(info),
    updated_at: info.updatedAt.toISOString(),
    created_at: info.createdAt.toISOString(),
    last_accessed_at: info.updatedAt.toISOString(),
    metadata: {
      eTag: info.etag,
      size: info.size,
      mimetype: info.contentType,
      cacheControl: info.cacheControl,
      lastModified: info.updatedAt.toISOString(),
      contentLength: info.size,
      httpStatusCode: 200,
    },
  }
}

/** The answer of `info`. */
export function infoBody(info: ObjectInfo) {
  return {
    id: idOf(info),
    name: info.key,
    bucket_id: info.bucket,
    version: idOf(info),
    size: info.size,
    content_type: info.contentType,
    cache_control: info.cacheControl,
    etag: info.etag,
    metadata: info.metadata,
    last_modified: info.updatedAt.toISOString(),
    created_at: info.createdAt.toISOString(),
  }
}

/** An id that identifies an object's content and changes with it. */
export function idOf(info: ObjectInfo): string {
  const hex = info.etag
    .replaceAll(/[^0-9a-f]/g, '')
    .padEnd(32, '0')
    .slice(0, 32)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
