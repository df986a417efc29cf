import type { Database } from '../src/database.ts'
import { registerEmbeddings, type CatalogueEntry } from '../src/geoembeddings/catalogue.ts'
import {
  createEmbeddingTable,
  finishEmbeddingTable,
  loadEmbeddings,
  type EmbeddingRow,
} from '../src/geoembeddings/embedding-table.ts'
import { beginRun } from '../src/job-runs.ts'
import { stagedTable, swapIn } from '../src/staging.ts'

export interface TestTable {
  readonly name: string
  readonly vectors: readonly Float32Array[]
  /** The ring of each row. */
  readonly ring: (id: number) => Float64Array
  readonly entry?: Partial<CatalogueEntry>
}

let jobs = 0

/** A finished embedding table with its catalogue row, made as a job makes it. */
export async function makeEmbeddingTable(database: Database, { name, vectors, ring, entry }: TestTable): Promise<void> {
  const jobId = `0199b1f0-0000-7000-8000-${String(++jobs).padStart(12, '0')}`
  const run = await beginRun(database, jobId)
  const staged = stagedTable(run, 0, 'geoembeddings', name)
  const dims = vectors[0]?.length ?? 1
  const shape = { kind: 'tile', dims, metric: entry?.metric ?? 'cosine' } as const
  await createEmbeddingTable(database, staged, shape)
  async function* batches(): AsyncGenerator<EmbeddingRow[]> {
    yield vectors.map((embedding, id) => ({ id, polygons: [ring(id)], embedding, attributes: [id, 0, 0, 0, 1] }))
  }
  await loadEmbeddings(database, staged, shape, batches())
  const approximateIndex = await finishEmbeddingTable(database, staged, shape, vectors.length)
  await swapIn(database, run, [staged], {}, (session) =>
    registerEmbeddings(session, {
      owner: null,
      tableName: name,
      kind: 'geo',
      modelName: 'm',
      modelSha256: 'aa',
      modelLicence: null,
      dims,
      level: 'tile',
      normalized: true,
      metric: 'cosine',
      rows: vectors.length,
      zeroVectors: 0,
      approximateIndex,
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
