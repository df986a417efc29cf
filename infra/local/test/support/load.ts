import { request, type Agent } from 'node:http'
import type { Keys } from '../../src/keys.ts'

const OBJECT = Buffer.alloc(64 << 10, 'x')
const BUCKET = 'load'

/** A kind of request that clients of a stack send repeatedly. */
export interface Call {
  readonly name: string
  /** True for a call of the console; others go to the origin. */
  readonly console?: boolean
  readonly method: string
  /** `{n}` is replaced by the client's number. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Makes the bucket that the calls need. */
export function bucketCall(keys: Keys): Call {
  const body = JSON.stringify({ id: BUCKET, name: BUCKET, public: false })
  const headers = { ...bearer(keys.serviceRoleKey), 'content-type': 'application/json' }
  return { name: 'bucket', method: 'POST', path: '/storage/v1/bucket', headers, body }
}

/** One call through each of the apps, and two through the storage. */
export function callsOf(keys: Keys): readonly Call[] {
  const anon = bearer(keys.anonKey)
  const service = bearer(keys.serviceRoleKey)
  const json = { 'content-type': 'application/json' }
  const place = { lat: 48.1, lon: 11.6 }
  const route = JSON.stringify({ locations: [place, { lat: 48.095, lon: 11.59 }], costing: 'auto' })
  const object = `/storage/v1/object/${BUCKET}/{n}`
  return [
    {
      name: 'upload',
      method: 'POST',
      path: object,
      headers: { ...service, 'x-upsert': 'true', 'content-type': 'text/plain' },
      body: OBJECT,
    },
    { name: 'download', method: 'GET', path: object, headers: service },
    {
      name: 'rows',
      method: 'GET',
      path: '/rest/v1/embeddings_catalogue?select=table_name',
      headers: { ...anon, 'accept-profile': 'geoembeddings' },
    },
    {
      name: 'route',
      method: 'POST',
      path: '/routing-engine/v1/route',
      headers: { apikey: keys.servicesKey, ...json },
      body: route,
    },
    {
      name: 'function',
      method: 'POST',
      path: '/functions/v1/hello',
      headers: { ...anon, ...json },
      body: '{"name":"x"}',
    },
    { name: 'jobs', method: 'GET', path: '/worker/jobs/exportTable', headers: service },
    { name: 'console', console: true, method: 'GET', path: '/', headers: {} },
  ]
}

const PARTS = 6

/**
 * Uploads an object in parts, each on a connection of its own, so that another origin continues it, and reads it.
 * Returns the first status that is not expected, or 200.
 */
export async function uploadInParts(keys: Keys, name: string, port: number): Promise<number> {
  const origin = `http://127.0.0.1:${port}`
  const headers = { ...bearer(keys.serviceRoleKey), 'tus-resumable': '1.0.0', connection: 'close' }
  const metadata = Object.entries({ bucketName: BUCKET, objectName: name, contentType: 'text/plain' })
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')
  const lengths = { 'upload-length': String(PARTS * OBJECT.length), 'upload-metadata': metadata }
  const begun = await fetch(`${origin}/storage/v1/upload/resumable`, {
    method: 'POST',
    headers: { ...headers, ...lengths },
  })
  if (begun.status !== 201) return begun.status
  const { href } = new URL(begun.headers.get('location')!, origin)
  const own = { ...headers, 'content-type': 'application/offset+octet-stream' }
  for (let at = 0; at < PARTS * OBJECT.length; at += OBJECT.length) {
    const part = { method: 'PATCH', headers: { ...own, 'upload-offset': String(at) }, body: OBJECT }
    const { status } = await fetch(href, part)
    if (status !== 204) return status
  }
  const read = await fetch(`${origin}/storage/v1/object/${BUCKET}/${name}`, { headers: bearer(keys.serviceRoleKey) })
  const isWhole = Buffer.from(await read.arrayBuffer()).equals(
    Buffer.concat(Array.from({ length: PARTS }, () => OBJECT)),
  )
  return read.status === 200 && !isWhole ? 0 : read.status
}

/** Sends a call and reads its whole answer. Returns the status, or the code of an error. */
export function send(
  { method, path, headers, body }: Call,
  n: number,
  { agent, port }: { readonly agent: Agent; readonly port: number },
): Promise<number | string> {
  return new Promise((resolve) => {
    const failed = (error: Error & { code?: string }) => resolve(error.code ?? error.message)
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const options = { host: '127.0.0.1', port, method, path: path.replace('{n}', String(n)), agent }
    const sent = request({ ...options, headers: { ...headers, ...length } }, (response) => {
      response
        .on('error', failed)
        .on('end', () => resolve(response.statusCode ?? 0))
        .resume()
    })
    sent.on('error', failed)
    sent.end(body)
  })
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { apikey: key, authorization: `Bearer ${key}` }
}
