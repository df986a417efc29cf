import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

import { seededRandom } from '@terrane/core'

import { DEFAULT_LIMITS, type Limits, mapNetworkFile, type Network, readNetworkFile, Router } from '../../src/index.ts'
import { quantile } from '../../test/support/compare.ts'

// `serve.ts graph.bin mapped|copied` opens a graph file and answers routes and a matrix. For each path that it reads
// from stdin, it opens that graph while the old one still answers, answers with the new one and drops the old one.
// After each step it prints a line of JSON with the time and the memory of the process.
const [path, how] = process.argv.slice(2)
const ROUTES = 300
/** Distances within a country exceed the default limits of requests. */
const FAR: Limits = {
  ...DEFAULT_LIMITS,
  modes: { ...DEFAULT_LIMITS.modes, auto: { ...DEFAULT_LIMITS.modes.auto, meters: 1e8 } },
  matrix: { ...DEFAULT_LIMITS.matrix, meters: { ...DEFAULT_LIMITS.matrix.meters, auto: 1e8 } },
}

let router = await say(path!)
for await (const next of createInterface({ input: process.stdin })) {
  const before = router
  router = await say(next)
  await before.close()
}

async function say(file: string): Promise<Router> {
  const started = performance.now()
  const network = await (how === 'mapped' ? mapNetworkFile(file) : readNetworkFile(file))
  const openMs = performance.now() - started
  const next = new Router(network, { limits: FAR })
  const answers = answer(next, network)
  process.stdout.write(
    `${JSON.stringify({ edges: network.graph.edgeCount, nodes: network.graph.nodeCount, openMs, ...answers, ...memory() })}\n`,
  )
  return next
}

/** CPU time of random car routes and of a matrix, in milliseconds. */
function answer(asked: Router, { graph }: Network) {
  const random = seededRandom(5)
  const place = () => {
    const node = Math.floor(random() * graph.nodeCount)
    return { lon: graph.nodeLon[node]! / 1e7, lat: graph.nodeLat[node]! / 1e7 }
  }
  const places = () => Array.from({ length: 50 }, place)
  let found = 0
  const routes = Array.from({ length: ROUTES }, () => {
    const text = JSON.stringify({ locations: [place(), place()], costing: 'auto' })
    return cpuOf(() => void (asked.answer(text).status === 200 && found++))
  })
  const text = JSON.stringify({ sources: places(), targets: places(), costing: 'auto' })
  const matrix = cpuOf(() => {
    const { status, body } = asked.answer(text, 'sources_to_targets')
    if (status !== 200) throw new Error(body)
  })
  return { routes: ROUTES, found, p50: quantile(routes, 0.5), p95: quantile(routes, 0.95), matrix }
}

function cpuOf(work: () => void): number {
  const began = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}

/** Bytes of own memory, of resident mapped files, of the proportional share of shared pages, and at the peak (Linux). */
function memory() {
  const status = readFileSync('/proc/self/status', 'utf8')
  const shares = readFileSync('/proc/self/smaps_rollup', 'utf8')
  return {
    own: bytesOf(status, 'RssAnon') + bytesOf(status, 'RssShmem'),
    mapped: bytesOf(status, 'RssFile'),
    share: bytesOf(shares, 'Pss'),
    most: bytesOf(status, 'VmHWM'),
  }
}

function bytesOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024
}
