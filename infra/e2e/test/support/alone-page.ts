import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAPLIBRE = dirname(fileURLToPath(import.meta.resolve('maplibre-gl')))

const ALONE = `<!doctype html><title>Alone</title><link rel="icon" href="data:,"><div id="map" style="width: 600px; height: 400px"></div>
<script type="module">
  import { Map } from '/maplibre-gl.mjs'
  globalThis.show = (style, options) => { globalThis.map = new Map({ container: 'map', style, ...options }) }
</script>`

/** A page of another origin with MapLibre and nothing of the console in it. */
export async function serveAlone(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://alone')
    if (pathname === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(ALONE)
    else {
      readFile(join(MAPLIBRE, basename(pathname))).then(
        (bytes) => response.writeHead(200, { 'content-type': 'text/javascript' }).end(bytes),
        () => response.writeHead(404).end(),
      )
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
