import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from 'node:child_process'

import { seededRandom } from '@terrane/core'

import { Router } from '../src/index.ts'
import { readNetworkFile } from '../src/network/file.ts'
import { quantile } from '../test/support/compare.ts'
import { findExtracts } from './support/extracts.ts'

// How far a graph goes: CPU, peak memory and bytes of a build per directed street; then, in this process, reading the file,
// routes, and a matrix of 100 × 100. `node scale.bench.ts porto large.osm.pbf`
const BUILD = fileURLToPath(new URL('../test/fixtures/build-file.ts', import.meta.url))
const ROUTES = 300

for (const extract of findExtracts(process.argv.slice(2))) {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-scale-'))
  const path = join(folder, 'graph.bin')
  const build = await buildApart(extract.path, path)
  const { size } = statSync(path)
  const before = process.memoryUsage.rss()
  const started = performance.now()
  const network = await readNetworkFile(path)
  const read = performance.now() - started
  const { edgeCount, nodeCount } = network.graph
  const per = (bytes: number): string =>
    `${(bytes / 1e6).toFixed(0)} MB, ${(bytes / edgeCount).toFixed(0)} bytes per directed street`
  console.log(`\n${extract.name}: ${nodeCount} crossings, ${edgeCount} directed streets`)
  console.log(
    `  built in ${build.seconds.toFixed(0)} s, ${build.cpu.toFixed(0)} s of CPU, at its peak ${per(build.peak)} (goal 800)`,
  )
  console.log(
    `  file ${per(size)} (goal 275); read in ${read.toFixed(0)} ms, then ${per(process.memoryUsage.rss() - before)} more memory`,
  )
  const router = new Router(network)
  const random = seededRandom(5)
  const place = () => {
    const node = Math.floor(random() * nodeCount)
    return { lon: network.graph.nodeLon[node]! / 1e7, lat: network.graph.nodeLat[node]! / 1e7 }
  }
  let found = 0
  const times = Array.from({ length: ROUTES }, () => {
    const text = JSON.stringify({ locations: [place(), place()], costing: 'auto' })
    const began = process.cpuUsage()
    if (router.answer(text).status === 200) found++
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 1000
  })
  const places = () => Array.from({ length: 50 }, place)
  const began = process.cpuUsage()
  const { status } = router.answer(
    JSON.stringify({ sources: places(), targets: places(), costing: 'auto' }),
    'sources_to_targets',
  )
  const { user, system } = process.cpuUsage(began)
  console.log(
    `  ${found} of ${ROUTES} routes found, p50 ${quantile(times, 0.5).toFixed(2)} ms of CPU, p95 ${quantile(times, 0.95).toFixed(2)}; ` +
      `matrix of 50 × 50 ${((user + system) / 1000).toFixed(0)} ms of CPU`,
  )
  assert.equal(status, 200)
  await router.close()
  rmSync(folder, { recursive: true })
}

/** Builds a graph file in a process of its own. */
async function buildApart(extract: string, path: string): Promise<{ seconds: number; cpu: number; peak: number }> {
  const child = spawn(process.execPath, ['--expose-gc', '--max-old-space-size=12000', BUILD, extract, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const part of child.stdout) said += String(part)
  return JSON.parse(said) as never
}
