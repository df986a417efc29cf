import type { Progress } from '@terrane/core'
import { serveThread } from '@terrane/core/threads'

import { type RegionEmbeddings, embedRegions } from './region-embeddings.ts'
import type {
  FeatureModule,
  FeatureSource,
  RegionBatch,
  RegionMethods,
  RegionSummary,
  RegionThreadData,
} from './region-run.ts'
import { cellPolygons, coverArea } from './regions.ts'

/** Numbers in one batch of rows. */
const BATCH_NUMBERS = 1 << 18

serveThread<RegionThreadData, RegionMethods, Progress>((data, emit) => {
  const cells = coverArea(data)
  emit({ phase: 'cover', done: cells.length, total: cells.length, unit: 'cells' })
  let rows: ReturnType<typeof rowsOf> | null = null
  return {
    embed: async (source) => {
      const { result, counts } = await compute({ ...data, cells, source }, emit)
      rows = rowsOf(result)
      return { ...summarise(result), counts }
    },
    next: (_, transfer) => {
      const batch = rows?.next().value
      if (!batch) throw new RangeError('all rows were taken')
      transfer.push(batch.embeddings.buffer)
      return batch
    },
  }
})

interface Work extends RegionThreadData {
  readonly cells: readonly string[]
  readonly source: FeatureSource
}

async function compute(
  { filter, embedder, cells, source }: Work,
  report: (progress: Progress) => void,
): Promise<{ result: RegionEmbeddings } & Pick<RegionSummary, 'counts'>> {
  const module: unknown = await import(source.module)
  if (!isFeatureModule(module)) throw new TypeError(`${source.module} has no function openFeatures`)
  let reads = false
  let counts: RegionSummary['counts'] = null
  const features = module.openFeatures(source.options, {
    onProgress: (progress) => {
      reads = true
      report(progress)
    },
    onCounts: (said) => {
      counts = said
    },
  })
  const onProgress = (progress: Progress): void => {
    if (!reads || progress.total !== null) report(progress)
  }
  const result = await embedRegions({ cells, features, filter, embedder, onProgress })
  return { result, counts }
}

function summarise(result: RegionEmbeddings): Omit<RegionSummary, 'counts'> {
  const { cells, dims, names, features, losses, fingerprint, read } = result
  const row = new Float64Array(dims)
  let zeroVectors = 0
  for (let i = 0; i < cells.length; i++) {
    read(i, row)
    if (row.every((value) => value === 0)) zeroVectors++
  }
  return { cells: cells.length, dims, names, features, zeroVectors, losses, fingerprint }
}

function* rowsOf({
  cells,
  dims,
  read,
}: RegionEmbeddings): Generator<RegionBatch & { embeddings: Float32Array<ArrayBuffer> }> {
  const most = Math.max(1, Math.min(1000, Math.floor(BATCH_NUMBERS / dims)))
  const row = new Float64Array(dims)
  for (let start = 0; start < cells.length; start += most) {
    const part = cells.slice(start, start + most)
    const embeddings = new Float32Array(part.length * dims)
    for (let i = 0; i < part.length; i++) {
      read(start + i, row)
      embeddings.set(row, i * dims)
    }
    yield { cells: part, polygons: part.map(cellPolygons), embeddings }
  }
}

function isFeatureModule(module: unknown): module is FeatureModule {
  return typeof module === 'object' && module !== null && 'openFeatures' in module
}
