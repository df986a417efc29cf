import { startEndless, takesWhileUnread } from '@terrane/testing/endless'
import { expect, test } from 'vitest'
import { startHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const { probed, title } = await tryRuntime('deno', 'standard')

test.skipIf(!probed)(
  `what a function fetches and passes on without an end waits for its reader: ${title}`,
  async () => {
    await using server = await startEndless()
    const { port } = new URL(server.url)
    await using host = await startHost({
      ...probed!,
      fetchPolicy: { allowHosts: ['endless.test'], resolver: async () => ['127.0.0.1'] },
    })
    const code = `export default () => fetch('http://endless.test:${port}/')`
    await host.deploy('passes', code, { policy: { net: [`endless.test:${port}`] } })
    const taken = await takesWhileUnread(server, host.url('passes'))
    expect(taken).toBeGreaterThan(0)
    expect(taken).toBeLessThanOrEqual(64 * 1024 * 1024)
  },
)
