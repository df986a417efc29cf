import type { Database } from '../src/database.ts'
import { registerEmbeddings, type CatalogueEntry } from '../src/geoembeddings/catalogue.ts'
import {
  createEmbeddingTable,
  finishEmbeddingTable,
  loadEmbeddings,
  type EmbeddingRow,
} from '../src/geoembeddings/embedding-table.ts'
import { beginRun } from '../src/staging/job-runs.ts'
import { stagedTable, swapIn } from '../src/staging/staging.ts'

export interface TestTable {
  readonly name: string
  readonly vectors: readonly Float32Array[]
  /** The ring of each row. */
  readonly ring: (id: number) => Float64Array
  readonly entry?: Partial<CatalogueEntry>
}

/** A table whose rows come in batches. */
export interface StreamedTable {
  readonly name: string
  readonly rows: number
  readonly dims: number
  readonly batches: () => AsyncIterable<readonly EmbeddingRow[]>
  readonly entry?: Partial<CatalogueEntry>
  /** Called with the milliseconds that its indexes took. */
  readonly onFinished?: (ms: number) => void
}

let jobs = 0

/** A finished embedding table with its catalogue row, made as a job makes it. */
export function makeEmbeddingTable(database: Database, { vectors, ring, ...table }: TestTable): Promise<void> {
  async function* batches(): AsyncGenerator<EmbeddingRow[]> {
    yield vectors.map((embedding, id) => ({ id, polygons: [ring(id)], embedding, attributes: [id, 0, 0, 0, 1] }))
  }
  return streamEmbeddingTable(database, { ...table, rows: vectors.length, dims: vectors[0]?.length ?? 1, batches })
}

/** Like {@link makeEmbeddingTable}, for rows that come in batches. */
export async function streamEmbeddingTable(database: Database, table: StreamedTable): Promise<void> {
  const { name, rows, dims, entry } = table
  const jobId = `0199b1f0-0000-7000-8000-${String(++jobs).padStart(12, '0')}`
  const run = await beginRun(database, jobId)
  const staged = stagedTable(run, 0, 'geoembeddings', name)
  const shape = { kind: 'tile', dims, metric: entry?.metric ?? 'cosine' } as const
  await createEmbeddingTable(database, staged, shape)
  await loadEmbeddings(database, staged, shape, table.batches())
  const started = performance.now()
  const index = await finishEmbeddingTable(database, staged, shape, rows)
  table.onFinished?.(performance.now() - started)
  await swapIn(database, run, [staged], {}, (session) =>
    registerEmbeddings(session, {
      owner: null,
      isPublic: null,
      tableName: name,
      kind: 'geo',
      modelName: 'm',
      modelSha256: 'aa',
      modelLicence: null,
      dims,
      level: 'tile',
      normalized: true,
      metric: 'cosine',
      rows,
      zeroVectors: 0,
      index,
      source: null,
      sourceCrs: 'EPSG:4326',
      attribution: null,
      tileSize: 256,
      stride: 256,
      bands: [0, 1, 2],
      scale: null,
      featureNames: null,
      bbox: null,
      metadata: {},
      jobId,
      ...entry,
    }),
  )
}
