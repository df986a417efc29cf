import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFauxqs } from 'fauxqs'

const require = createRequire(import.meta.url)

/** The part of s3rver that is used; the package has no types. */
const S3rver = require('s3rver') as new (options: {
  address: string
  port: number
  silent: boolean
  directory: string
  configureBuckets: readonly { name: string; configs: readonly string[] }[]
}) => { readonly httpServer: Server; run(): Promise<{ port: number }>; close(): Promise<void> }

/** An S3 service on loopback with a bucket `bucket`; its keys are S3RVER, S3RVER. */
export interface Emulator extends AsyncDisposable {
  readonly name: string
  readonly port: number
}

/** Environment variables that lead to a port of this machine. */
export const awsAt = (port: number) => ({
  AWS_ACCESS_KEY_ID: 'S3RVER',
  AWS_SECRET_ACCESS_KEY: 'S3RVER',
  AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
})

/** s3rver, which refuses wrong signatures. Neither emulator knows If-None-Match on PUT. */
async function startS3rver(): Promise<Emulator> {
  const directory = await mkdtemp(join(tmpdir(), 'terrane-s3rver-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'bucket', configs: [] }],
  })
  const { port } = await server.run()
  return {
    name: 's3rver',
    port,
    [Symbol.asyncDispose]: async () => {
      server.httpServer.closeAllConnections()
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Starts fauxqs, whose multipart uploads have ETags like those of S3. */
export async function startFaux(): Promise<Emulator> {
  const server = await startFauxqs({ port: 0, logger: false })
  server.createBucket('bucket')
  return { name: 'fauxqs', port: server.port, [Symbol.asyncDispose]: () => server.stop() }
}

export const startEmulators = () => Promise.all([startS3rver(), startFaux()])
