// oxlint-disable node/no-process-env -- This is the function's own process, and its environment the function's.
import { AsyncLocalStorage } from 'node:async_hooks'
import fs from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { inspect } from 'node:util'
import type * as Tmp from './tmp/tmp.ts'
import { run } from './core.ts'
import type { Platform } from './platform.ts'
import type { Scope } from './scope.ts'

const platform: Platform = {
  stdin: process.stdin,
  scopes: () => new AsyncLocalStorage<Scope>(),
  listen(path, serve) {
    const server = createServer((incoming, outgoing) => void answer(incoming, outgoing, serve))
    return new Promise((resolve) => server.listen(path, resolve))
  },
  read: (bundle) => fs.readFileSync(new URL(bundle), 'utf8'),
  offerHttp: () => null,
  // Trusted code may use the sockets of its process.
  carrySockets() {},
  async keepTmp({ module, bytes }, bundle, code) {
    if (!/\/tmp\b/.test(code)) return
    const { keepTmp } = (await import(module)) as typeof Tmp
    keepTmp(fs, null, decodeURIComponent(new URL('.', bundle).pathname).slice(0, -1), bytes)
  },
  gatewayClient: (path) => (request) => send(path, request),
  write(text) {
    process.stdout.write(text)
  },
  inspect: (value) => inspect(value),
  setEnv(env) {
    process.env = { ...env }
  },
  onUncaught(report) {
    process.on('uncaughtException', report)
    process.on('unhandledRejection', report)
  },
  defineServe(serve) {
    const env = {
      get: (name: string) => process.env[name],
      has: (name: string) => process.env[name] !== undefined,
      toObject: () => ({ ...process.env }),
    }
    Object.defineProperty(globalThis, 'Deno', { value: { serve, env } })
  },
  serveConnections() {},
  tidy() {},
  exit: (code) => process.exit(code),
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  serve: (request: Request) => Response | Promise<Response>,
): Promise<void> {
  const gone = new AbortController()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  const method = incoming.method ?? 'GET'
  const headers = new Headers()
  for (let i = 0; i < incoming.rawHeaders.length; i += 2)
    headers.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const request = new Request(incoming.url!, {
    method,
    headers,
    signal: gone.signal,
    ...(hasBody && ({ body: Readable.toWeb(incoming), duplex: 'half' } as object)),
  })
  try {
    const response = await serve(request)
    const pairs: string[] = []
    response.headers.forEach((value, name) => pairs.push(name, value))
    outgoing.writeHead(response.status, pairs)
    if (response.body) await pipeline(Readable.fromWeb(response.body as never), outgoing)
    else outgoing.end()
  } catch {
    outgoing.destroy()
  }
}

function send(path: string, request: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { socketPath: path, path: request.url, method: request.method, headers: Object.fromEntries(request.headers) },
      (incoming) => {
        const headers = new Headers()
        for (let i = 0; i < incoming.rawHeaders.length; i += 2)
          headers.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!)
        const status = incoming.statusCode ?? 502
        const empty = status === 204 || status === 304 || request.method === 'HEAD'
        resolve(new Response(empty ? null : (Readable.toWeb(incoming) as ReadableStream), { status, headers }))
      },
    )
    outgoing.on('error', (cause) => reject(new TypeError('fetch failed', { cause })))
    request.signal.addEventListener('abort', () => outgoing.destroy(request.signal.reason as Error))
    if (request.body) Readable.fromWeb(request.body as never).pipe(outgoing)
    else outgoing.end()
  })
}

await run(platform)
