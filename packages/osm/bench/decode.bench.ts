// Decoding a PBF in one thread: all columns of all elements, against osm-pbf-parser-node on the same file.
import { statSync } from 'node:fs'
import { cpus } from 'node:os'
import { createOSMStream } from 'osm-pbf-parser-node'
import { PbfReader, fileSource } from '../src/index.ts'
import { sampleFile } from './sample.ts'

const ROUNDS = 4
const { path, kind } = await sampleFile(5)
const megabytes = statSync(path).size / 1e6
const source = await fileSource(path)

interface Totals {
  elements: number
  refs: number
  /** Sum of node ids and references in the order of the file, so that both readers round alike. */
  sum: number
}

async function columns(unpackAhead: number): Promise<Totals> {
  const totals: Totals = { elements: 0, refs: 0, sum: 0 }
  await new PbfReader(source, unpackAhead).read(({ nodes, ways, relations }) => {
    totals.elements += nodes.count + ways.count + relations.count
    totals.refs += ways.refOffsets[ways.count]!
    for (let i = 0; i < nodes.count; i++) totals.sum += nodes.ids[i]!
    for (let i = 0; i < ways.refOffsets[ways.count]!; i++) totals.sum += ways.refs[i]!
  })
  return totals
}

async function peer(): Promise<Totals> {
  const totals: Totals = { elements: 0, refs: 0, sum: 0 }
  for await (const item of createOSMStream(path, { withInfo: false, withTags: true })) {
    if (!isElement(item)) continue
    totals.elements++
    if (item.type === 'node') totals.sum += item.id
    if (item.type !== 'way') continue
    totals.refs += item.refs.length
    for (const ref of item.refs) totals.sum += ref
  }
  return totals
}

function isElement(item: object): item is { type: string; id: number; refs: number[] } {
  return 'type' in item
}

const runs = {
  'terrane, one thread': () => columns(0),
  'terrane, unpacking ahead': () => columns(4),
  'osm-pbf-parser-node': peer,
}
// Both are measured by the CPU time of the process, which other work on the machine disturbs less than the clock.
const best: Record<string, { cpu: number; clock: number }> = {}
const seen = new Set<string>()
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(runs)) {
    const before = process.cpuUsage()
    const start = performance.now()
    seen.add(JSON.stringify(await run()))
    const clock = megabytes / ((performance.now() - start) / 1000)
    const { user, system } = process.cpuUsage(before)
    const cpu = megabytes / ((user + system) / 1e6)
    best[name] = { cpu: Math.max(best[name]?.cpu ?? 0, cpu), clock: Math.max(best[name]?.clock ?? 0, clock) }
  }
}
if (seen.size !== 1) throw new Error(`the readers disagree: ${[...seen].join(' ')}`)
console.log(`decode ${megabytes.toFixed(1)} MB (${kind}), best of ${ROUNDS}, ${cpus()[0]?.model ?? 'unknown CPU'}`)
for (const [name, { cpu, clock }] of Object.entries(best)) {
  console.log(
    `  ${name.padEnd(26)} ${cpu.toFixed(1).padStart(6)} MB/s of CPU ${clock.toFixed(1).padStart(6)} MB/s by the clock`,
  )
}
const ratio = (best['terrane, one thread']?.cpu ?? 0) / (best['osm-pbf-parser-node']?.cpu ?? 1)
console.log(`RATIO terrane one thread / osm-pbf-parser-node = ${ratio.toFixed(2)}`)
