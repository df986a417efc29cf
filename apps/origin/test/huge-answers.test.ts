import { createGuardedFetch } from '@terrane/service'
import { startEndless, takesWhileUnread } from '@terrane/testing/endless'
import { expect, test } from 'vitest'
import { remoteFile } from '../src/raster/files.ts'
import { openOrigin } from './harness.ts'

const MOST_BYTES = 64 * 1024 * 1024

test('a raster’s server that sends more than it was asked for costs 64 MB at most and one clear error', async () => {
  const headers = { 'content-range': 'bytes 0-0/1000000', 'content-type': 'image/tiff' }
  await using server = await startEndless(() => ({ status: 206, headers }))
  const fetch = createGuardedFetch({ allowHosts: ['127.0.0.1'] })
  const { signal } = new AbortController()
  const file = await remoteFile(fetch, `${server.url}/a.tif`, signal)
  await expect(file!.read([{ offset: 0, length: 5000 }], signal)).rejects.toMatchObject({ code: 'DOWNLOAD_TOO_LARGE' })
  await server.quiet()
  expect(server.sent()).toBeLessThanOrEqual(MOST_BYTES)
})

test.each(['/worker/jobs', '/functions/v1/hello', '/routing-engine/v1/status', '/route/v1/driving/11,48;12,48'])(
  'an answer of %s that has no end waits for its reader, and ends with it',
  async (path) => {
    await using server = await startEndless()
    await using origin = await openOrigin({
      TERRANE_WORKER_URL: server.url,
      TERRANE_FUNCTIONS_URL: server.url,
      TERRANE_ROUTER_URL: server.url,
    })
    const taken = await takesWhileUnread(server, `${origin.url}${path}`, { apikey: origin.keys.service })
    expect(taken).toBeGreaterThan(0)
    expect(taken).toBeLessThanOrEqual(MOST_BYTES)
  },
)
