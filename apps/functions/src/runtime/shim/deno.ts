import { run } from './core.ts'
import type { Platform } from './platform.ts'
import { serveConnections, type DenoListening } from './connections.ts'
import type * as Tmp from './tmp/tmp.ts'
import { moveHttpServer } from './deno-http.ts'
import { openScopes, type DenoInternals } from './deno-scopes.ts'
import { Reach, carryDenoSockets, carryNodeSockets, type NodeSockets } from './deno-sockets.ts'

/** The parts of Deno's API that the shim uses. */
interface DenoApi {
  readonly stdin: { read(into: Uint8Array): Promise<number | null>; readSync(into: Uint8Array): number | null }
  readonly stdout: { writeSync(bytes: Uint8Array): number }
  readonly env: { set(name: string, value: string): void; delete(name: string): void; toObject(): object }
  readonly permissions: { revokeSync(descriptor: { name: 'read' | 'write'; path: string }): unknown }
  serve: unknown
  connect: (options: object) => Promise<{ write(bytes: Uint8Array): Promise<number> }>
  connectTls: unknown
  startTls: unknown
  readTextFileSync(path: URL): string
  chdir(folder: URL): void
  createHttpClient(options: { proxy: { transport: 'unix'; path: string } }): unknown
  inspect(value: unknown): string
  exit(code: number): never
}

const deno = (globalThis as unknown as { Deno: DenoApi }).Deno
const encoder = new TextEncoder()
// Copied before the function can replace it.
const nativeFetch = globalThis.fetch
const createHttpClient = deno.createHttpClient.bind(deno)
const nativeServe = deno.serve as (options: { path: string; onListen: () => void }, serve: unknown) => unknown

const stdinReaders = { read: deno.stdin.read.bind(deno.stdin), readSync: deno.stdin.readSync.bind(deno.stdin) }

/**
 * The chunks of stdin, each until the next one. The first line is waited for in one system call, which takes no CPU time
 * and no thread. Deno would load its streams for `readable`, a sixth of a small start.
 */
async function* chunksOfStdin({ read, readSync } = stdinReaders): AsyncGenerator<Uint8Array> {
  const room = new Uint8Array(65_536)
  const lineEnd = 10
  for (let isFirst = true; ;) {
    const bytes = isFirst ? readSync(room) : await read(room)
    if (bytes === null) return
    const chunk = room.subarray(0, bytes)
    isFirst &&= !chunk.includes(lineEnd)
    yield chunk
  }
}

/** The function may neither remove nor replace its ingress socket. */
function seal(path: string): void {
  deno.permissions.revokeSync({ name: 'read', path })
  deno.permissions.revokeSync({ name: 'write', path })
}

/**
 * Gives fixed answers to queries about the system, so that nothing about the host is revealed. Deno loads `process` at
 * its first use, which takes a third of the start of a small function, so it is changed only then. A bundle that
 * imports `node:process` does not use the global, so there it is changed at once.
 */
function answerAsNobody(code: string): void {
  const original = Object.getOwnPropertyDescriptor(globalThis, 'process')
  if (!original?.get || code.includes('node:process')) return answerFor(process)
  Object.defineProperty(globalThis, 'process', {
    get() {
      const found = original.get!.call(globalThis) as NodeJS.Process
      answerFor(found)
      setProcess(found)
      return found
    },
    set: setProcess,
    configurable: true,
    enumerable: true,
  })
}

function setProcess(value: unknown): void {
  Object.defineProperty(globalThis, 'process', { value, configurable: true, enumerable: true, writable: true })
}

function answerFor(found: NodeJS.Process): void {
  const uid = 65_534
  const answers = {
    getuid: () => uid,
    geteuid: () => uid,
    getgid: () => uid,
    getegid: () => uid,
    getgroups: () => [uid],
    umask: () => 0o22,
  }
  for (const [name, value] of Object.entries(answers))
    Object.defineProperty(found, name, { value, configurable: true, writable: true })
}

const platform: Platform = {
  stdin: chunksOfStdin(),
  scopes: () => openScopes(deno as unknown as DenoInternals),
  async listen(path, serve) {
    nativeServe({ path, onListen() {} }, serve)
    seal(path)
  },
  read(bundle) {
    // A process that was started before it had code has another working directory.
    deno.chdir(new URL('.', bundle))
    return deno.readTextFileSync(new URL(bundle))
  },
  offerHttp(path, code, around) {
    if (!code.includes('node:http')) return null
    const http = process.getBuiltinModule('node:http')
    return moveHttpServer(http as never, path, around, () => seal(path))
  },
  carrySockets({ path, listed }, code, onRefused) {
    const reach = new Reach(listed, onRefused)
    carryDenoSockets(deno, path, reach)
    if (!/node:(?:net|tls|https?|dns)\b/.test(code)) return
    const [net, tls, https, dns] = ['net', 'tls', 'https', 'dns'].map((name) =>
      process.getBuiltinModule(`node:${name}`),
    )
    carryNodeSockets({ net, tls, https, dns } as unknown as NodeSockets, path, reach)
  },
  async keepTmp({ module, bytes }, bundle, code) {
    if (!/\/tmp\b|\.makeTemp/.test(code)) return
    const { keepTmp } = (await import(module)) as typeof Tmp
    keepTmp(
      process.getBuiltinModule('node:fs') as never,
      deno as never,
      decodeURIComponent(new URL('.', bundle).pathname).slice(0, -1),
      bytes,
    )
  },
  gatewayClient(path) {
    let client: unknown
    return (request) => {
      client ??= createHttpClient({ proxy: { transport: 'unix', path } })
      return nativeFetch(request, { client } as RequestInit)
    }
  },
  write(text) {
    const bytes = encoder.encode(text)
    for (let at = 0; at < bytes.length;) at += deno.stdout.writeSync(bytes.subarray(at))
  },
  inspect: (value) => deno.inspect(value),
  setEnv(env) {
    for (const name of Object.keys(deno.env.toObject())) deno.env.delete(name)
    for (const [name, value] of Object.entries(env)) deno.env.set(name, value)
  },
  onUncaught(report) {
    addEventListener('unhandledrejection', (event) => {
      event.preventDefault()
      report((event as Event & { reason: unknown }).reason)
    })
    addEventListener('error', (event) => {
      event.preventDefault()
      report((event as Event & { error: unknown }).error)
    })
  },
  defineServe(serve) {
    Object.defineProperty(deno, 'serve', { value: serve })
  },
  serveConnections: (offer) => serveConnections(deno as unknown as DenoListening, offer),
  tidy(code) {
    answerAsNobody(code)
    // Storage would be files on the host's disk (and its folder is not writable), a worker exceeds the memory limit,
    // and functions have no access to the GPU.
    for (const name of ['Worker', 'caches', 'localStorage', 'sessionStorage', 'alert', 'confirm', 'prompt'])
      Reflect.deleteProperty(globalThis, name)
    Reflect.deleteProperty(Object.getPrototypeOf(navigator) as object, 'gpu')
  },
  exit: (code) => deno.exit(code),
}

declare function addEventListener(type: string, listener: (event: Event) => void): void
declare const navigator: object

await run(platform)
