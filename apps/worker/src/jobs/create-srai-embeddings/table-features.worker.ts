import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { FeatureHooks, RegionFeature } from '@terrane/embeddings/srai'

/** Options of `openFeatures` for features that were written to a file. */
export interface TableFeatureOptions {
  readonly path: string
  readonly rows: number
}

const REPORT_EVERY = 10_000

/** Reads what `dumpTables` wrote: one feature per line. */
export async function* openFeatures(options: TableFeatureOptions, hooks: FeatureHooks): AsyncGenerator<RegionFeature> {
  const { path, rows } = options
  let done = 0
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (done++ % REPORT_EVERY === 0) hooks.onProgress({ phase: 'read', done, total: rows, unit: 'features' })
    const { tags, geometry } = JSON.parse(line) as RegionFeature
    yield { tags: Object.assign(Object.create(null), tags), geometry }
  }
  hooks.onCounts({ rows: done })
}
