import { type Transferable, parentPort, workerData } from 'node:worker_threads'

import { toPlainError } from '@terrane/core'

import { type RegionEmbeddings, embedRegions } from './region-embeddings.ts'
import type { FeatureModule, RegionBatch, RegionMessage, RegionRunRequest, RegionSummary } from './region-run.ts'
import { cellPolygons, coverArea } from './regions.ts'

/** Numbers in one batch of rows. */
const BATCH_NUMBERS = 1 << 18

const port = parentPort
if (!port) throw new Error('this module runs in a worker thread')
const post = (message: RegionMessage, transfer: readonly Transferable[] = []): void =>
  port.postMessage(message, transfer)

try {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- openRegionRun is the only one that starts us
  const request = workerData as RegionRunRequest
  const result = await compute(request)
  post({ type: 'summary', summary: summarise(result) })
  const rows = rowsOf(result)
  port.on('message', () => {
    const { value: batch } = rows.next()
    if (batch) post({ type: 'batch', batch }, [batch.embeddings.buffer])
  })
} catch (error) {
  post({ type: 'failed', error: toPlainError(error) })
}

async function compute(request: RegionRunRequest): Promise<RegionEmbeddings> {
  const { filter, embedder, source } = request
  const cells = coverArea(request)
  post({ type: 'progress', progress: { phase: 'cover', done: cells.length, total: cells.length, unit: 'cells' } })
  const module: unknown = await import(source.module)
  if (!isFeatureModule(module)) throw new TypeError(`${source.module} has no function openFeatures`)
  const features = module.openFeatures(source.options)
  return embedRegions({
    cells,
    features,
    filter,
    embedder,
    onProgress: (progress) => post({ type: 'progress', progress }),
  })
}

function summarise({ cells, dims, names, features, losses, read }: RegionEmbeddings): RegionSummary {
  const row = new Float64Array(dims)
  let zeroVectors = 0
  for (let i = 0; i < cells.length; i++) {
    read(i, row)
    if (row.every((value) => value === 0)) zeroVectors++
  }
  return { cells: cells.length, dims, names, features, zeroVectors, losses }
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
