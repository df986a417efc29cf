// CPU time of making the rows of all topics from one file, compared with reading the same features alone, or with the
// same work of another checkout, in turn, if its root is the second argument: topics.bench.ts [file] [root].
import { join } from 'node:path'
import { PbfReader, TOPICS, TagView, fileSource, importOsmArea, readFeatures } from '../src/index.ts'
import { sampleFile } from './sample.ts'

const ROUNDS = 5
const [file, root] = process.argv.slice(2)
const { path } = file === undefined ? await sampleFile(2) : { path: file }
const source = await fileSource(path)

type Import = typeof importOsmArea
interface Other {
  readonly importOsmArea: Import
  readonly PbfReader: typeof PbfReader
}

function rowsBy(run: Import, Reader: typeof PbfReader): () => Promise<number> {
  return async () => {
    let rows = 0
    await run(new Reader(source), null, [...TOPICS, 'all'], {
      write: (_, batch) => {
        rows += batch.length
      },
    })
    return rows
  }
}

async function featuresAlone(): Promise<number> {
  let features = 0
  const visitor = {
    tags: new TagView([], () => true),
    select: () => 15,
    visit: () => {
      features++
    },
  }
  await readFeatures(new PbfReader(source), visitor)
  return features
}

const runs: Record<string, () => Promise<number>> = { topics: rowsBy(importOsmArea, PbfReader) }
if (root === undefined) runs['features alone'] = featuresAlone
else {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same package of another checkout
  const other = (await import(join(root, 'packages/osm/src/index.ts'))) as Other
  runs['topics there'] = rowsBy(other.importOsmArea, other.PbfReader)
}
const best: Record<string, number> = {}
const counts: Record<string, number> = {}
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(runs)) {
    const before = process.cpuUsage()
    counts[name] = await run()
    const { user, system } = process.cpuUsage(before)
    best[name] = Math.min(best[name] ?? Infinity, (user + system) / 1e6)
  }
}
for (const name of Object.keys(runs))
  console.log(`${name.padEnd(16)} ${best[name]!.toFixed(2)} s of CPU, ${counts[name]} of them`)
const [ours, theirs] = Object.keys(runs)
if (root !== undefined && counts[ours!] !== counts[theirs!]) throw new Error('the rows differ in number')
console.log(`RATIO topics / ${theirs} = ${(best[ours!]! / best[theirs!]!).toFixed(2)}`)
