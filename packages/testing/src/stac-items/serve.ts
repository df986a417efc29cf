import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on loopback with files by their paths, which answers range requests. */
export interface FileServer extends AsyncDisposable {
  /** `host:port`. */
  readonly host: string
  readonly files: Map<string, Uint8Array>
}

/** @param files path with its leading slash → contents; queries of addresses are ignored */
export async function serveFiles(files = new Map<string, Uint8Array>()): Promise<FileServer> {
  const server = createServer((request, response) => {
    const bytes = files.get((request.url ?? '').split('?')[0]!)
    if (bytes === undefined) return void response.writeHead(404).end()
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    if (range === null) return void response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
    const [start, end] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)]
    response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${bytes.length}`, etag: `"${bytes.length}"` })
    response.end(bytes.subarray(start, end + 1))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
