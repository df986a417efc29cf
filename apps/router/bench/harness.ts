import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '@terrane/core'
import { writePbf } from '@terrane/osm'
import { hashKey } from '@terrane/auth'
import { readNetworkFile, type Network } from '@terrane/routing'
import { buildCity } from '@terrane/testing/city'

const KEY = 'the-services-key-of-the-benches'

/** A router in its own process, and a client with keep-alive connections. */
export interface BenchRouter extends AsyncDisposable {
  readonly network: Network
  /** A request body between two random crossings. */
  randomBody(costing?: string): string
  /** A random crossing. */
  place(): { lon: number; lat: number }
  /** Requests a route, or another action by its path. */
  post(body: string, action?: string): Promise<{ status: number; body: string; ms: number }>
  /** Memory of the process in bytes. */
  rss(): Promise<number>
}

/**
 * Starts a router on an extract, or on the generated town without one.
 *
 * @param connections number of connections of the client
 */
export async function startRouter(extract: string | undefined, connections: number): Promise<BenchRouter> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-router-bench-'))
  const town = join(folder, 'town.osm.pbf')
  if (extract === undefined) await writeFile(town, writePbf(buildCity().elements))
  const graph = join(folder, 'graph.bin')
  const child = fork(fileURLToPath(new URL('../src/main.ts', import.meta.url)), {
    execArgv: ['--max-semi-space-size=8'],
    env: {
      ...process.env,
      PORT: '0',
      LOG_LEVEL: 'error',
      DATABASE_URL: '',
      TERRANE_ACCEPTED_KEYS: hashKey(KEY),
      TERRANE_METRICS_KEY: KEY,
      TERRANE_ROUTING_OSM: extract ?? town,
      TERRANE_ROUTING_GRAPH: graph,
    },
  })
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  while (!(await fetch(`${url}/health/ready`)).ok) await sleep(200)
  const network = await readNetworkFile(graph)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const random = seededRandom(7)
  const place = () => {
    const node = Math.floor(random() * network.graph.nodeCount)
    return { lon: network.graph.nodeLon[node]! / 1e7, lat: network.graph.nodeLat[node]! / 1e7 }
  }
  return {
    network,
    place,
    randomBody: (costing = 'auto') => JSON.stringify({ locations: [place(), place()], costing }),
    post: (body, action = 'route') => post(`${url}/routing-engine/v1/${action}`, body, agent),
    rss: async () => {
      const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${KEY}` } })).text()
      return Number(/^process_resident_memory_bytes\S* (\S+)$/m.exec(text)![1])
    },
    [Symbol.asyncDispose]: async () => {
      agent.destroy()
      await stop(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

function post(url: string, body: string, agent: Agent): Promise<{ status: number; body: string; ms: number }> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { apikey: KEY, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const ms = performance.now() - started
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString(), ms })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
