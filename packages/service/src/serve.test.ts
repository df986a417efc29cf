import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createHttp } from './http.ts'
import { createLogger } from './logger.ts'
import { serve } from './serve.ts'

test('a port that is taken is named, with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const logger = createLogger({ name: 'test', level: 'silent' })
  const served = serve(createHttp({ logger }), { HOST: '127.0.0.1', PORT: port, DRAIN_TIMEOUT_MS: 1000 }, logger)
  await expect(served).rejects.toMatchObject({
    code: 'ADDRESS_IN_USE',
    message: `Another program listens on 127.0.0.1:${port} already`,
    hint: expect.stringContaining('PORT') as string,
  })
  other.close()
})
