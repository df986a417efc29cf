import { get, projectPath, request } from './api.ts'

/** A bucket of the project's storage. */
export interface Bucket {
  readonly name: string
  readonly public: boolean
}

/** A file in storage. */
export interface StoredFile {
  /** Full path in the bucket. */
  readonly key: string
  readonly updated_at: string | null
  readonly metadata: { readonly size?: number; readonly mimetype?: string } | null
}

export interface FilePage {
  readonly objects: readonly StoredFile[]
  readonly hasNext: boolean
  readonly nextCursor?: string
}

export function readBuckets(ref: string, signal?: AbortSignal): Promise<readonly Bucket[]> {
  return get(projectPath(ref, '/files'), signal)
}

/** Files of a bucket in the order of their paths. */
export function readFiles(ref: string, bucket: string, cursor: string | null, signal?: AbortSignal): Promise<FilePage> {
  const query = new URLSearchParams({ limit: '50', ...(cursor !== null && { cursor }) })
  return get(`${projectPath(ref, '/files/')}${encodeURIComponent(bucket)}?${query}`, signal)
}

export function deleteFile(ref: string, bucket: string, key: string): Promise<unknown> {
  return request('DELETE', pathOf(ref, bucket, key))
}

/** A URL for reading the file without a key, valid for an hour. */
export async function linkTo(ref: string, bucket: string, key: string): Promise<string> {
  return (await request<{ url: string }>('POST', pathOf(ref, bucket, key), { seconds: 3600 })).url
}

function pathOf(ref: string, bucket: string, key: string): string {
  const path = [bucket, ...key.split('/')].map(encodeURIComponent).join('/')
  return projectPath(ref, `/files/${path}`)
}

/** The name of a stored file, and its folder; empty at the top. */
export function splitPath(path: string): readonly [name: string, folder: string] {
  const slash = path.lastIndexOf('/')
  return [path.slice(slash + 1), path.slice(0, Math.max(0, slash))]
}
