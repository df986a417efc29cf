import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Keys } from './keys.ts'
import type { KeptApp } from './kept-app.ts'
import type { Settings } from './settings.ts'

/**
 * Announces the ports of the stack to commands on this machine. `stack.json` in its folder names a port. A request
 * there for `/?nonce=…` is answered with the current ports, and with a proof that this stack has answered: the
 * HMAC-SHA256 of the nonce and the body under `terrane-stack:{secret}`, as hex, in the header `terrane-proof`. Without
 * it a key could be sent to another program on that port.
 */
export async function announce(
  { home, ports, databaseUrl }: Pick<Settings, 'home' | 'ports' | 'databaseUrl'>,
  { jwtSecret }: Pick<Keys, 'jwtSecret'>,
  apps: readonly Pick<KeptApp, 'name' | 'isRunning'>[],
): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    const nonce = new URLSearchParams(request.url?.split('?')[1]).get('nonce') ?? ''
    const running = apps.filter(({ isRunning }) => isRunning).map(({ name }) => name)
    const names = databaseUrl === null ? [...running, 'database'] : running
    const body = JSON.stringify({
      ports: Object.fromEntries(Object.entries(ports).filter(([name]) => names.includes(name))),
    })
    const proof = createHmac('sha256', `terrane-stack:${jwtSecret}`).update(`${nonce}\n${body}`).digest('hex')
    response
      .writeHead(200, { 'content-type': 'application/json', 'terrane-proof': proof, connection: 'close' })
      .end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const path = join(home, 'stack.json')
  await writeFile(path, `${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`, { mode: 0o600 })
  return {
    [Symbol.asyncDispose]: async () => {
      await rm(path, { force: true })
      server.close()
    },
  }
}
