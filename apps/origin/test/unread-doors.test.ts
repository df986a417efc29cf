import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.client(origin.keys.service).storage.createBucket('files', { public: false })
})
afterAll(() => origin[Symbol.asyncDispose]())

const MEGABYTES = 10
const TUS = '/storage/v1/upload/resumable'

/** Writes a request with a body of 10 MB before it reads. Resolves to the answer until its end. */
async function writeThenRead(line: string, headers: string): Promise<string> {
  const socket = connect({ port: Number(new URL(origin.url).port), host: '127.0.0.1', allowHalfOpen: true })
  socket.pause()
  socket.write(
    `${line}\r\nhost: x\r\nconnection: close\r\napikey: ${origin.keys.service}\r\n` +
      `${headers}content-length: ${MEGABYTES * 1_000_000}\r\n\r\n`,
  )
  for (let i = 0; i < MEGABYTES; i++) if (!socket.write(Buffer.alloc(1_000_000))) await once(socket, 'drain')
  const answer = await text(socket)
  socket.destroy()
  return answer
}

const tus = 'tus-resumable: 1.0.0\r\n'
const part = `${tus}upload-offset: 0\r\ncontent-type: application/offset+octet-stream\r\n`
const preflight = 'origin: https://app.example\r\naccess-control-request-method: PATCH\r\n'
test.each([
  [
    'WMS, capabilities',
    'GET /raster/v1/wms?service=WMS&request=GetCapabilities&layers=storage://files/none.tif',
    '',
    404,
  ],
  ['WMS, map', 'GET /raster/v1/wms?service=WMS&request=GetMap', '', 400],
  ['WMS, another method', 'POST /raster/v1/wms?service=WMS', 'content-type: text/xml\r\n', 404],
  ['storage, buckets', 'GET /storage/v1/bucket', '', 200],
  ['storage, an object', 'GET /storage/v1/object/files/none', '', 404],
  ['storage, an object of no bucket', 'POST /storage/v1/object/none/a', 'content-type: text/plain\r\n', 404],
  ['TUS, no preflight', `OPTIONS ${TUS}`, tus, 400],
  ['TUS, a preflight', `OPTIONS ${TUS}`, preflight, 204],
  ['TUS, a beginning without a target', `POST ${TUS}`, `${tus}upload-length: 9\r\n`, 400],
  ['TUS, how far it is', `HEAD ${TUS}/none`, tus, 404],
  ['TUS, a part of no upload', `PATCH ${TUS}/none`, part, 404],
  ['TUS, an end of no upload', `DELETE ${TUS}/none`, tus, 404],
  ['rows', 'GET /rest/v1/none', '', 404],
  ['features', 'GET /ogc/v1/collections', '', 200],
  ['health', 'GET /health/live', '', 200],
] as const)('%s: a caller that writes 10 MB before it reads is answered', async (_, request, headers, status) => {
  for (const version of ['1.0', '1.1'])
    expect(await writeThenRead(`${request} HTTP/${version}`, headers)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
})
