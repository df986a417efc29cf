// Test bed of hostile functions: a host, a neighbour that is called all the time, and listeners that no function may
// reach. After each test it checks that the neighbour noticed nothing and that nothing was reached.
import { createServer as createTcpServer, type Server } from 'node:net'
import { createServer, type Server as HttpServer } from 'node:http'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Policy } from '../../src/policy.ts'
import { startHost, type TestHost } from './host.ts'
import { outcome } from './http.ts'
import { watchNeighbour, type Report } from './neighbour.ts'
import type { ProbedRuntime } from '../../src/runtime/probe.ts'

/** Limits that only an overloaded machine makes an innocent function exceed. Cases about a limit lower it. */
export const LIMITS = { block_ms: 5000, timeout_ms: 20_000, memory_mb: 128, max: 1 } as const
export const SHORT_BLOCK = { block_ms: 800 } as const
export const SHORT_TIMEOUT = { timeout_ms: 2500 } as const
/** Longest duration of a case, even on a busy machine. */
export const BOUND_MS = 25_000

export interface ArenaOptions {
  /** URL of the project's database; asked once the tests begin. */
  readonly databaseUrl?: () => Promise<string>
  readonly sessions?: number
  /** URL of the project's API; asked once the tests begin. */
  readonly projectApi?: () => Promise<string>
}

/** Declares the hooks of an arena within a `describe`. */
export function openArena(probed: ProbedRuntime, hardened: boolean, options: ArenaOptions = {}) {
  let host: TestHost
  let stopWatching: () => Promise<Report>
  /** Any connection to these listeners is an escape. */
  let tcp: Server
  let web: HttpServer
  const reached: string[] = []
  /** The attacker's name, new for each test, so that tests do not affect each other. */
  let attacker = ''
  let count = 0

  beforeAll(async () => {
    tcp = createTcpServer((socket) => {
      reached.push('tcp')
      socket.destroy()
    })
    web = createServer((request, response) => {
      reached.push(`http ${request.url}`)
      response.end('inside')
    })
    await Promise.all([tcp, web].map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))))
    host = await startHost({
      ...probed,
      ...(options.databaseUrl && { databaseUrl: await options.databaseUrl() }),
      ...(options.sessions !== undefined && { sessions: options.sessions }),
      ...(options.projectApi && { projectApi: await options.projectApi() }),
      // Attackers get processes that were started before them, as often as they get their own.
      spares: 1,
      spareMb: LIMITS.memory_mb,
      bootMs: 5000,
      bodyTimeoutMs: 1000,
      // The neighbour of a name server that changes its mind, and a redirecting public host, without any network.
      fetchPolicy: {
        allowHosts: ['redirector.test'],
        resolver: async (name) => (name === 'rebinding.test' ? ['203.0.113.9', '127.0.0.1'] : ['127.0.0.1']),
      },
    })
    await host.deploy('neighbour', `export default () => new Response('fine')`, { policy: { max: 1 } })
    await fetch(host.url('neighbour'))
  })
  afterAll(async () => {
    await host[Symbol.asyncDispose]()
    tcp.close()
    web.closeAllConnections()
    web.close()
  })
  beforeEach(() => {
    reached.length = 0
    host.exits.length = 0
    attacker = `attacker-${++count}`
    stopWatching = watchNeighbour(host)
  })
  afterEach(async () => {
    const report = await stopWatching()
    host.functions.remove('test', attacker)
    expectUntouched(report)
  })

  /** Deploys an attacker that serves `ok` on /ok, and calls it. */
  async function attack(body: string, init: RequestInit = {}, policy: Partial<Policy> = {}) {
    await host.deploy(
      attacker,
      `export default async (req: Request, ctx: any) => { if (req.url.endsWith('/ok')) return new Response('ok'); ${body} }`,
      { policy: { ...LIMITS, ...policy }, files: { 'a.txt': 'a' } },
    )
    await warmUp()
    const before = pidOf(attacker)
    const begun = performance.now()
    const headers = { ...(init.headers as Record<string, string>), 'x-gateway': gatewayOf(attacker) }
    const result = await outcome(await fetch(host.url(attacker), { ...init, headers }))
    expect(performance.now() - begun).toBeLessThan(BOUND_MS)
    return { ...result, before }
  }
  function expectUntouched(report: Report) {
    expect(report.errors).toEqual([])
    expect(report.calls).toBeGreaterThan(0)
    expect(host.exits.filter((exit) => exit.name === 'neighbour')).toEqual([])
    expect(reached).toEqual([])
  }
  /** The socket that leads to the host, as the function sees it. */
  const gatewayOf = (name: string) =>
    hardened
      ? '/run/gw.sock'
      : [...host.functions.get('test', name)!.pool][0]!.upstream.path.replace('in.sock', 'gw.sock')
  const callOk = async () => {
    const response = await fetch(`${host.url(attacker)}/ok`)
    return `${response.status} ${await response.text()}`
  }
  /** The first honest answer is not part of an attack: a cold start may exceed short limits, which does not count. */
  async function warmUp() {
    await expect.poll(callOk, { timeout: BOUND_MS }).toBe('200 ok')
    host.exits.length = 0
  }
  const pidOf = (name: string) => [...host.functions.get('test', name)!.pool][0]?.pid
  const reasons = () => host.exits.filter((exit) => exit.name === attacker).map((exit) => exit.reason)
  async function expectReplaced(before: number | undefined, ...why: string[]) {
    await expect.poll(reasons, { timeout: BOUND_MS }).toEqual(why)
    await expect.poll(callOk, { timeout: BOUND_MS }).toBe('200 ok')
    expect(pidOf(attacker)).not.toBe(before)
  }
  async function expectKept(before: number | undefined) {
    await expect.poll(callOk, { timeout: BOUND_MS }).toBe('200 ok')
    expect([pidOf(attacker), ...reasons()]).toEqual([before])
  }
  /** Where the watchdog's next look decides, which may come after the answer. */
  async function expectKeptOrReplaced(before: number | undefined, why: string) {
    const state = async () => {
      const answer = await callOk()
      return `${answer} ${pidOf(attacker) === before ? 'kept' : 'replaced'} ${reasons().join()}`
    }
    await expect.poll(state, { timeout: BOUND_MS }).toBeOneOf(['200 ok kept ', `200 ok replaced ${why}`])
  }

  /** Runs probes inside and returns each result; `denied` for a probe that failed. */
  async function probe(probes: Record<string, string>, policy: Partial<Policy> = {}): Promise<Record<string, string>> {
    const list = Object.entries(probes).map(([name, code]) => `[${JSON.stringify(name)}, async () => { ${code} }]`)
    const source = `const results = {}; for (const [name, run] of [${list.join(',')}]) { try { results[name] = 'GOT ' + String(await Promise.race([run(), new Promise((_, no) => setTimeout(() => no(new Error('no answer')), 300))])) } catch (e) { results[name] = 'denied' } }
      return Response.json(results)`
    const { status, body, before } = await attack(source, {}, policy)
    expect([status, body.slice(0, 500)]).toEqual([200, expect.stringContaining('{')])
    await expectKept(before)
    return JSON.parse(body) as Record<string, string>
  }
  /** Largest resident size of the attacker, in MiB, since the call. */
  function watchPeak(): () => number {
    let peak = 0
    const timer = setInterval(() => {
      const pid = [...(host.functions.get('test', attacker)?.pool ?? [])][0]?.pid
      if (pid === undefined || !existsSync(`/proc/${pid}/status`)) return
      const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
      peak = Math.max(peak, Number(rss ?? 0) / 1024)
    }, 10)
    return () => {
      clearInterval(timer)
      return peak
    }
  }

  /** Bytes in the folders that an instance could possibly write to. */
  function diskUse(): number {
    let bytes = 0
    for (const folder of [host.folder, host.factory.base]) {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
        bytes += lstatSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
    }
    return bytes
  }

  return {
    get host() {
      return host
    },
    get attacker() {
      return attacker
    },
    get tcp() {
      return tcp
    },
    get web() {
      return web
    },
    reached,
    attack,
    probe,
    callOk,
    warmUp,
    pidOf,
    gatewayOf,
    expectKept,
    expectKeptOrReplaced,
    expectReplaced,
    watchPeak,
    diskUse,
  }
}

/** Probes that were not denied, with their results. */
export function gainsOf(results: Readonly<Record<string, string>>): [probe: string, gain: string][] {
  return Object.entries(results).filter(([, result]) => result !== 'denied')
}

export function expectDenied(results: Readonly<Record<string, string>>): void {
  expect(gainsOf(results)).toEqual([])
}
