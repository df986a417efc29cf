import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unzipSync } from 'fflate'

const MAPLIBRE = dirname(fileURLToPath(import.meta.resolve('maplibre-gl')))

const ALONE = `<!doctype html><title>Alone</title><link rel="icon" href="data:,"><div id="map" style="width: 600px; height: 400px"></div>
<script type="module">
  import { Map } from '/maplibre-gl.mjs'
  globalThis.show = (style, options) => { globalThis.map = new Map({ container: 'map', style, ...options }) }
</script>`

/** A page of another origin with MapLibre and nothing of the console in it. */
export function serveAlone(): Promise<AsyncDisposable & { readonly url: string }> {
  return serve(async (path) => (path === '' ? Buffer.from(ALONE) : readFile(join(MAPLIBRE, basename(path)))))
}

/** The files of a zip on a plain host, which knows no byte ranges. */
export function serveZip(zip: Uint8Array): Promise<AsyncDisposable & { readonly url: string }> {
  const files = unzipSync(zip)
  return serve((path) => Promise.resolve(files[path || 'index.html'] ?? Promise.reject(new Error('not there'))))
}

const TYPES: Readonly<Record<string, string>> = {
  '': 'text/html',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
}

async function serve(read: (path: string) => Promise<Uint8Array>): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://alone').pathname.slice(1)
    read(path).then(
      (bytes) =>
        response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(bytes),
      () => response.writeHead(404).end(),
    )
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
