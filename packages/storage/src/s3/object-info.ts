import type { HeadObjectCommandOutput } from '@aws-sdk/client-s3'
import { DEFAULT_CACHE_CONTROL, DEFAULT_CONTENT_TYPE, type ObjectInfo } from '../object-store.ts'

/** Converts the metadata of an S3 object, or of a part of one, to that of the stores. */
export function infoOf(
  bucket: string,
  key: string,
  answer: HeadObjectCommandOutput & { readonly ContentRange?: string | undefined },
): ObjectInfo {
  const total = /\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1] ?? answer.ContentLength ?? 0
  const modified = answer.LastModified ?? new Date(0)
  return {
    bucket,
    key,
    size: Number(total),
    contentType: answer.ContentType ?? DEFAULT_CONTENT_TYPE,
    cacheControl: answer.CacheControl ?? DEFAULT_CACHE_CONTROL,
    etag: answer.ETag ?? '""',
    metadata: decodeMetadata(answer.Metadata?.['terrane']),
    createdAt: modified,
    updatedAt: modified,
  }
}

/** Header values are ASCII; metadata is any JSON. */
export function encodeMetadata(metadata: Readonly<Record<string, unknown>>): string {
  return Buffer.from(JSON.stringify(metadata)).toString('base64')
}

function decodeMetadata(text: string | undefined): Record<string, unknown> {
  return text === undefined ? {} : (JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as Record<string, unknown>)
}
