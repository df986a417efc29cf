import { type Transferable, parentPort, workerData } from 'node:worker_threads'

import { type Progress, toPlainError } from '@terrane/core'

import { type RegionEmbeddings, embedRegions } from './region-embeddings.ts'
import type {
  FeatureModule,
  FeatureSource,
  RegionBatch,
  RegionCommand,
  RegionMessage,
  RegionSummary,
  RegionThreadData,
} from './region-run.ts'
import { cellPolygons, coverArea } from './regions.ts'

/** Numbers in one batch of rows. */
const BATCH_NUMBERS = 1 << 18

const port = parentPort
if (!port) throw new Error('this module runs in a worker thread')
const post = (message: RegionMessage, transfer: readonly Transferable[] = []): void =>
  port.postMessage(message, transfer)
const report = (progress: Progress): void => post({ type: 'progress', progress })

try {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- openRegionRun is the only one that starts us
  const data = workerData as RegionThreadData
  const cells = coverArea(data)
  report({ phase: 'cover', done: cells.length, total: cells.length, unit: 'cells' })
  const told = Promise.withResolvers<RegionCommand>()
  port.once('message', told.resolve)
  post({ type: 'covered' })
  const command = await told.promise
  if (command.type !== 'source') throw new TypeError(`a source is needed, not ${command.type}`)
  const { result, counts } = await compute(data, cells, command.source)
  const rows = rowsOf(result)
  port.on('message', () => {
    const { value: batch } = rows.next()
    if (batch) post({ type: 'batch', batch }, [batch.embeddings.buffer])
  })
  post({ type: 'summary', summary: { ...summarise(result), counts } })
} catch (error) {
  post({ type: 'failed', error: toPlainError(error) })
}

async function compute(
  { filter, embedder }: RegionThreadData,
  cells: readonly string[],
  source: FeatureSource,
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
