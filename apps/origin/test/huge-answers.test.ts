import { createGuardedFetch } from '@terrane/service'
import { startEndless } from '@terrane/testing/endless'
import { expect, test } from 'vitest'
import { remoteFile } from '../src/raster/files.ts'

test('a raster’s server that sends more than it was asked for costs 64 MB at most and one clear error', async () => {
  const headers = { 'content-range': 'bytes 0-0/1000000', 'content-type': 'image/tiff' }
  await using server = await startEndless(() => ({ status: 206, headers }))
  const fetch = createGuardedFetch({ allowHosts: ['127.0.0.1'] })
  const { signal } = new AbortController()
  const file = await remoteFile(fetch, `${server.url}/a.tif`, signal)
  await expect(file!.read([{ offset: 0, length: 5000 }], signal)).rejects.toMatchObject({ code: 'DOWNLOAD_TOO_LARGE' })
  await server.quiet()
  expect(server.sent()).toBeLessThanOrEqual(64 * 1024 * 1024)
})
