import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, chmod, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleFiles, bundleFolder } from '@terrane/bundler'
import { pickStatic } from '../../src/build/static-files.ts'
import { clientAddress, onWebSocket, type FetchPolicy } from '@terrane/service'
import { DATABASE_URL_INSIDE } from '../../src/database/address.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { DatabaseDoor } from '../../src/database/door.ts'
import { Functions } from '../../src/functions.ts'
import type { Caller } from '../../src/gateway/caller.ts'
import { Depths } from '../../src/gateway/depth.ts'
import { Admission } from '../../src/gateway/admission.ts'
import { Gateway, type FunctionLookup } from '../../src/gateway/gateway.ts'
import { Heads } from '../../src/gateway/heads.ts'
import { Bodies } from '../../src/gateway/invocation/bodies.ts'
import { Capacity } from '../../src/pool/capacity.ts'
import { InstanceFactory, type GatewayDoor, type UserRange } from '../../src/pool/factory.ts'
import type { ExitReason } from '../../src/pool/exit.ts'
import type { FunctionLine } from '../../src/pool/output.ts'
import { DEFAULT_CEILINGS, readPolicy, type Policy } from '../../src/policy.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { VersionStore } from '../../src/version-store.ts'

/** Stands for the service key in the instances of the tests, whose environment does not have it. */
export const SERVICE_TOKEN = 'the-token-of-an-instance'

/** Where clients outside would reach the project of the tests. */
const PUBLIC_URL = 'https://project.example'

export interface Deployment {
  readonly policy?: Partial<Policy>
  readonly env?: Record<string, string>
  readonly files?: Record<string, string>
  /** Fill the cache by a run of its own and seal it, as a registry's versions are. */
  readonly sealed?: boolean
  /** Bundle it where the packages of this `node_modules` are found. */
  readonly packages?: string
  /** Name of the source's file; index.ts when absent. */
  readonly entry?: string
}

/** A functions host without a registry, for tests: functions are deployed from text. */
export async function startHost(options: {
  readonly runtime: Runtime
  readonly users?: UserRange | null
  readonly projectApi?: string
  readonly fetchPolicy?: FetchPolicy
  readonly bootMs?: number
  readonly instances?: number
  /** Number of processes that are kept ready, their memory limit (absent: that of policies) and their cache. */
  readonly spares?: number
  readonly spareMb?: number
  readonly shimCache?: string
  readonly bodyTimeoutMs?: number
  readonly bufferBytes?: number
  readonly ownOrigin?: boolean
  readonly trustsPeers?: boolean
  /** Database of the test project. */
  readonly databaseUrl?: string
  readonly sessions?: number
  /** In place of the doors of a host. */
  readonly door?: GatewayDoor
  /** Loads functions that are not served. */
  readonly find?: FunctionLookup['find']
}) {
  const stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'terrane-host-'))
  await chmod(folder, 0o711)
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const lines: (FunctionLine & { readonly name: string; readonly requestId: string | null })[] = []
  const exits: {
    readonly name: string
    readonly reason: ExitReason
    readonly code: number | null
    readonly signal: string | null
    readonly stderr: string
  }[] = []
  const bootFailures: { readonly name: string; readonly message: string; readonly detail: string }[] = []
  const finished: { readonly status: number; readonly problem: string; readonly requestId: string }[] = []
  const refused: { readonly text: string; readonly requestId: string | null }[] = []
  const narrowed: string[] = []
  const left: string[] = []
  const depths = new Depths('secret of the test')
  let origin = ''
  const databaseFailures: unknown[] = []
  const databaseDoor = stack.use(
    new DatabaseDoor({
      urlOf: () => options.databaseUrl ?? null,
      sessions: options.sessions ?? 10,
      depths,
      onFailed: (_version, error) => databaseFailures.push(error),
    }),
  )
  const egress = stack.use(
    createEgress({
      addressOf: () => ({
        apiUrl: options.projectApi ?? origin,
        publicUrl: PUBLIC_URL,
        serviceKey: 'the-service-key',
        servicesKey: 'the-services-key',
        verify: async () => Promise.reject(new Error('no tokens here')),
        publicKeys: async () => [],
      }),
      depths,
      fetchPolicy: options.fetchPolicy ?? {},
      database: options.databaseUrl === undefined ? null : databaseDoor,
      onRefused: (_version, text, requestId) => {
        refused.push({ text, requestId })
      },
    }),
  )
  const factory = stack.use(
    await InstanceFactory.open({
      runtime: options.runtime,
      door: options.door ?? egress,
      users: options.users ?? null,
      // Most tests do not depend on the start time, which is long on a busy machine.
      bootMs: options.bootMs ?? 60_000,
      ...(options.shimCache !== undefined && {
        spares: {
          count: options.spares ?? 0,
          memoryMb: options.spareMb ?? readPolicy({}, DEFAULT_CEILINGS).memory_mb,
          cacheDir: options.shimCache,
        },
      }),
      issueKeys: async () => ({ env: {}, serviceToken: SERVICE_TOKEN }),
      onUsage: () => {},
      onLine: (version, line, requestId) => lines.push({ ...line, requestId, name: version.name }),
      onLeft: (path) => left.push(path),
    }),
  )
  const store = stack.use(new VersionStore(join(folder, 'versions'), factory))
  const functions = stack.use(
    new Functions(factory, new Capacity(options.instances ?? 64), {
      pool: (version) => ({
        started() {},
        bootFailed: ({ message, detail }) => bootFailures.push({ name: version.name, message, detail }),
        exited: (_instance, exit) => exits.push({ name: version.name, ...exit }),
      }),
      live() {},
      removed() {},
    }),
  )
  const gateway = stack.use(
    new Gateway({ projectOf: () => 'test', find: options.find ?? (() => undefined), onFailed() {} }, functions, {
      admission: new Admission({
        authenticate: (_project, { headers }, needed) => testAuthenticate(headers, needed),
        depths,
        onError() {},
      }),
      bodies: stack.use(new Bodies(options.bufferBytes ?? 256 * 1024 * 1024, options.bodyTimeoutMs ?? 30_000)),
      heads: new Heads({
        trusts: () => options.trustsPeers ?? false,
        clientOf: clientAddress(options.trustsPeers ? ['127.0.0.1'] : []),
        ownOrigin: options.ownOrigin ?? true,
        resourceLimitStatus: 546,
        onNarrowed: ({ name }, text) => narrowed.push(`${name}: ${text}`),
      }),
      events: {
        finished: ({ status, problem, requestId }) => finished.push({ status, problem, requestId }),
        invalid() {},
      },
    }),
  )
  const server = createServer((request, response) => gateway.handle(request, response))
  onWebSocket(server, '/', (request, response, upgrade) => gateway.handle(request, response, upgrade))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(async () => {
    // Connections that became WebSockets are no longer the server's.
    gateway.closeSockets()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let count = 0
  const databaseEnv: Record<string, string> =
    options.databaseUrl === undefined ? {} : { TERRANE_DB_URL: DATABASE_URL_INSIDE }
  return {
    origin,
    url: (name: string) => `${origin}/functions/v1/${name}`,
    functions,
    gateway,
    factory,
    store,
    folder,
    lines,
    exits,
    bootFailures,
    finished,
    refused,
    narrowed,
    left,
    databaseFailures,
    async deploy(name: string, source: string, deployment: Deployment = {}) {
      const policy = readPolicy({ auth: 'none', methods: ['GET', 'POST'], ...deployment.policy }, DEFAULT_CEILINGS)
      const encoder = new TextEncoder()
      const uploads = new Map([[deployment.entry ?? 'index.ts', encoder.encode(source)]])
      for (const [path, text] of Object.entries(deployment.files ?? {})) uploads.set(path, encoder.encode(text))
      const { code, files: beside } = await (deployment.packages === undefined
        ? bundleFiles(uploads)
        : bundleBeside(deployment.packages, folder, uploads))
      const archive = { code, files: new Map([...pickStatic(uploads, policy.static), ...beside]) }
      const facts = { project: 'test', name, version: ++count, policy, env: { ...databaseEnv, ...deployment.env } }
      const added = await store.add(archive, facts)
      await functions.install(deployment.sealed ? await store.prepare(added) : added)
    },
    async [Symbol.asyncDispose]() {
      await stack.disposeAsync()
    },
  }
}

export type TestHost = Awaited<ReturnType<typeof startHost>>

/** The `node_modules` of this app. */
export const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Bundles from a folder of its own, which has these packages. */
async function bundleBeside(packages: string, root: string, files: ReadonlyMap<string, Uint8Array>) {
  const place = await mkdtemp(join(root, 'packages-'))
  await symlink(packages, join(place, 'node_modules'))
  for (const [path, bytes] of files) await writeFile(join(place, path), bytes)
  return bundleFolder(place, null)
}

/** Keys of the tests: the role itself. */
const testAuthenticate = (headers: IncomingHttpHeaders, needed: Policy['auth']): Caller => {
  const bearer = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
  const key = bearer ?? (headers['apikey'] as string | undefined)
  const isKnown = key === 'anon' || key === 'user' || key === 'service'
  if (key === undefined || (!isKnown && needed === 'none'))
    return { rank: 'none', claims: null, apikey: null, authorization: null, serviceHeaders: [] }
  if (!isKnown) throw Object.assign(new Error('The key is not known'), { code: 'UNAUTHORIZED' })
  return {
    rank: key,
    claims: encodeURIComponent(JSON.stringify({ role: key, name: 'Zoë' })),
    apikey: (headers['apikey'] as string | undefined) ?? null,
    authorization: headers.authorization ?? null,
    serviceHeaders: [
      ...(headers['apikey'] === 'service' ? (['apikey'] as const) : []),
      ...(bearer === 'service' ? (['authorization'] as const) : []),
    ],
  }
}
