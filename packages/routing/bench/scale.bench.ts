import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { findExtracts } from './support/extracts.ts'

// Scaling of a graph: CPU, peak memory and bytes of a build per directed street. Then processes that serve the file,
// read into memory or mapped: time of opening, routes and a matrix of 50 × 50, and memory of one process, of two on one
// file, and of one that switches to a new graph. Linux only. A built graph file may be given instead of an extract.
//   node scale.bench.ts porto large.osm.pbf graph.bin
const BUILD = fileURLToPath(new URL('../test/fixtures/build-file.ts', import.meta.url))
const SERVE = fileURLToPath(new URL('support/serve.ts', import.meta.url))

interface Served {
  readonly nodes: number
  readonly edges: number
  readonly openMs: number
  readonly routes: number
  readonly found: number
  readonly p50: number
  readonly p95: number
  readonly matrix: number
  readonly own: number
  readonly mapped: number
  readonly share: number
  readonly most: number
}

const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`

for (const extract of findExtracts(process.argv.slice(2))) {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-scale-'))
  const graph = extract.path.endsWith('.bin') ? extract.path : join(folder, 'graph.bin')
  const build = graph === extract.path ? null : await buildApart(extract.path, graph)
  const { size } = statSync(graph)
  for (const how of ['copied', 'mapped'] as const) {
    const first = serve(graph, how)
    const one = await first.next()
    const per = (bytes: number): string => `${mega(bytes)}, ${(bytes / one.edges).toFixed(0)} bytes per directed street`
    if (how === 'copied') {
      console.log(
        `\n${extract.name}: ${one.nodes} crossings, ${one.edges} directed streets, file ${per(size)} (goal 275)`,
      )
      if (build !== null)
        console.log(
          `  built in ${build.seconds.toFixed(0)} s, ${build.cpu.toFixed(0)} s of CPU, at its peak ${per(build.peak)} (goal 800)`,
        )
    }
    console.log(
      `  ${how}: open in ${one.openMs.toFixed(0)} ms; ${one.found} of ${one.routes} routes found, p50 ${one.p50.toFixed(2)} ms of CPU, ` +
        `p95 ${one.p95.toFixed(2)}; matrix of 50 × 50 ${one.matrix.toFixed(0)} ms\n` +
        `    memory ${mega(one.own)} of its own, ${mega(one.mapped)} of files that it looked at`,
    )
    const second = serve(graph, how)
    const two = await second.next()
    await second.end()
    const next = join(folder, 'next.bin')
    copyFileSync(graph, next)
    const swapped = await first.next(next)
    await first.end()
    // File pages in memory can be evicted; private memory of a process cannot.
    console.log(
      `    a second one on the file: ${mega(two.own)} of its own, ${mega(two.share)} as its share of all; a new graph beside the old one: ` +
        `${mega(swapped.own)} of its own, ${(swapped.own / one.own).toFixed(2)} × (goal 1.2), ${mega(swapped.most)} at most with files`,
    )
  }
  rmSync(folder, { recursive: true })
}

/** A process that serves a graph file. */
function serve(graph: string, how: 'copied' | 'mapped') {
  const child: ChildProcess = spawn(process.execPath, [SERVE, graph, how], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  return {
    /** Its next message, after it has opened its graph or the given one. */
    async next(path?: string): Promise<Served> {
      if (path !== undefined) child.stdin!.write(`${path}\n`)
      return JSON.parse((await lines.next()).value as string) as Served
    },
    async end(): Promise<void> {
      const ended = once(child, 'exit')
      child.stdin!.end()
      await ended
    },
  }
}

/** Builds a graph file in a process of its own. */
async function buildApart(extract: string, path: string): Promise<{ seconds: number; cpu: number; peak: number }> {
  const child = spawn(process.execPath, ['--expose-gc', '--max-old-space-size=16000', BUILD, extract, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const part of child.stdout) said += String(part)
  return JSON.parse(said) as never
}
