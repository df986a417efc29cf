import { open } from 'node:fs/promises'

/** Target of an upload, and the credentials of its sender. */
export interface Target {
  readonly origin: string
  readonly key: string
  readonly bucket: string
  readonly object: string
}

const VERSION = { 'tus-resumable': '1.0.0' }
/** Chunk size of Supabase storage clients. */
const CHUNK_BYTES = 6 * 1024 * 1024

/** Makes an upload and returns its address. */
export async function begin({ origin, key, bucket, object }: Target, bytes: number): Promise<string> {
  const metadata = Object.entries({ bucketName: bucket, objectName: object, contentType: 'application/octet-stream' })
  const response = await fetch(`${origin}/storage/v1/upload/resumable`, {
    method: 'POST',
    headers: {
      ...VERSION,
      apikey: key,
      authorization: `Bearer ${key}`,
      'upload-length': String(bytes),
      'upload-metadata': metadata.map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`).join(','),
    },
  })
  if (response.status !== 201) throw new Error(`an upload is refused with ${response.status}: ${await response.text()}`)
  return new URL(response.headers.get('location') ?? '', origin).href
}

/** Number of bytes of an upload that have arrived. */
export async function arrived(url: string, key: string): Promise<number> {
  const headers = { ...VERSION, apikey: key, authorization: `Bearer ${key}` }
  const response = await fetch(url, { method: 'HEAD', headers })
  return Number(response.headers.get('upload-offset') ?? Number.NaN)
}

/**
 * Continues an upload chunk by chunk until it is complete. `cutAt` breaks the connection in the middle of the chunk
 * that contains this byte, and resolves. Returns the number of bytes sent; after a cut, those up to `cutAt`.
 */
export async function send(url: string, key: string, path: string, cutAt = Infinity): Promise<number> {
  const headers = {
    ...VERSION,
    apikey: key,
    authorization: `Bearer ${key}`,
    'content-type': 'application/offset+octet-stream',
  }
  await using file = await open(path)
  const { size } = await file.stat()
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let at = await arrived(url, key)
  const from = at
  while (at < size) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at)
    const body = chunk.subarray(0, bytesRead)
    if (at + bytesRead > cutAt) {
      await cut(url, { ...headers, 'upload-offset': String(at) }, body)
      return cutAt - from
    }
    const response = await fetch(url, { method: 'PATCH', headers: { ...headers, 'upload-offset': String(at) }, body })
    if (response.status !== 204) throw new Error(`a chunk is refused with ${response.status}: ${await response.text()}`)
    at = Number(response.headers.get('upload-offset'))
  }
  return at - from
}

/** Sends the first half of a chunk, then breaks the connection. */
async function cut(url: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<void> {
  const gone = new AbortController()
  const half = body.subarray(0, body.byteLength >> 1)
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(half),
    pull: () => gone.abort(),
  })
  const init = { method: 'PATCH', headers: { ...headers }, body: stream, duplex: 'half', signal: gone.signal }
  await fetch(url, init as RequestInit).catch(() => {})
}
