import { mkdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { certify } from './certificates.ts'
import { denoLand, esmSh, jsdelivr, jsr, libDenoDev, type ModuleHost } from './hosts.ts'
import { npmAsJsr } from './npm-as-jsr.ts'
import type { Repositories } from './repositories.ts'

/**
 * The hosts that examples import from, on loopback: a proxy that answers for them from fetched repositories and from npm,
 * under a certificate of its own. Only the npm registry is passed on.
 */
export async function openMirror(repositories: Repositories, home: string) {
  const packages = join(home, 'packages')
  await mkdir(packages, { recursive: true })
  const [ofRepositories, ofNpm] = [jsr(repositories), npmAsJsr(packages)]
  const hosts: Record<string, ModuleHost> = {
    'deno.land': denoLand(repositories),
    'lib.deno.dev': libDenoDev(),
    'jsr.io': async (url) => (await ofRepositories(url)) ?? ofNpm(url),
    'esm.sh': esmSh(packages),
    'cdn.jsdelivr.net': jsdelivr(packages),
  }
  const missing: string[] = []
  const { ca, key, cert } = await certify(home, Object.keys(hosts))
  const modules = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, (request, response) => {
    const url = new URL(`https://${request.headers.host}${request.url}`)
    const answer = async () => {
      const served = await hosts[url.hostname]?.(url)
      if (!served) {
        missing.push(url.href)
        response.writeHead(404).end()
      } else if ('location' in served) response.writeHead(302, { location: served.location }).end()
      else response.writeHead(200, { 'content-type': served.type }).end(served.body)
    }
    answer().catch((error: unknown) => {
      missing.push(`${url.href}: ${String(error)}`)
      response.writeHead(500).end()
    })
  })
  const place = await listen(modules)
  const proxy = createServer()
  const callers = new Set<Socket>()
  proxy.on('connect', (request, caller: Socket, head) => {
    const [host = '', port = '443'] = request.url!.split(':')
    const known = hosts[host]
    if (!known && host !== 'registry.npmjs.org') {
      missing.push(host)
      caller.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      return
    }
    const server = known ? connect(place.port, '127.0.0.1') : connect(Number(port), host)
    callers.add(caller)
    caller.on('close', () => callers.delete(caller))
    caller.on('error', () => server.destroy())
    server.on('error', () => caller.destroy())
    server.once('connect', () => {
      caller.write('HTTP/1.1 200 Connection established\r\n\r\n')
      server.write(head)
      server.pipe(caller).pipe(server)
    })
  })
  const { port } = await listen(proxy)
  return {
    hosts: Object.keys(hosts),
    /** Environment variables by which Deno reaches the hosts. */
    env: { HTTPS_PROXY: `http://127.0.0.1:${port}`, DENO_CERT: ca },
    /** Addresses for which it had no answer. */
    missing,
    async [Symbol.asyncDispose]() {
      // Sockets after CONNECT are no longer connections of the server, but keep it open.
      for (const caller of callers) caller.destroy()
      for (const server of [proxy, modules]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
}

async function listen(server: Server | ReturnType<typeof createTlsServer>): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address() as AddressInfo
}
