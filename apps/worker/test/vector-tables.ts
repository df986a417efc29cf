import type { Database } from '@terrane/database'
import {
  createEmbeddingTable,
  finishEmbeddingTable,
  loadEmbeddings,
  registerEmbeddings,
  writeSources,
  type CatalogueEntry,
  type EmbeddingRow,
} from '@terrane/database/geoembeddings'
import { beginRun, stagedTable, swapIn } from '@terrane/database/staging'

/** A row of a made-up table: its place on a grid of thousandths of a degree, its source and its vector. */
export interface GridRow {
  readonly column: number
  readonly row: number
  readonly source?: number
  readonly embedding: Float32Array
}

export interface GridTable {
  readonly name: string
  readonly rows: Iterable<GridRow>
  readonly dims: number
  readonly entry?: Partial<CatalogueEntry>
}

export const SIZE = 0.001
/** Columns of the grid. */
export const COLUMNS = 1000

/** Id of a place of the grid; the number of its source is in the upper bits. */
export function gridId(column: number, row: number, source = 0): number {
  return source * 2 ** 32 + row * COLUMNS + column
}

let jobs = 0

/** An embeddings table as a job makes it, with its sources in the catalogue. */
export async function makeGridTable(database: Database, { name, rows, dims, entry }: GridTable): Promise<void> {
  const jobId = `0199b1f0-0000-7000-8001-${String(++jobs).padStart(12, '0')}`
  const run = await beginRun(database, jobId)
  const staged = stagedTable(run, 0, 'geoembeddings', name)
  const shape = { kind: 'tile', dims, metric: entry?.metric ?? 'cosine' } as const
  const sources = new Set<number>()
  await createEmbeddingTable(database, staged, shape)
  const count = await loadEmbeddings(database, staged, shape, batches(rows, sources))
  // No vector index, however many rows there are.
  const index = await finishEmbeddingTable(database, staged, shape, 0)
  await swapIn(database, run, [staged], {}, async (session) => {
    await registerEmbeddings(session, {
      owner: null,
      isPublic: null,
      tableName: name,
      kind: 'geo',
      modelName: 'm',
      modelSha256: 'aa',
      modelLicence: 'CC0-1.0',
      dims,
      level: 'tile',
      normalized: true,
      metric: 'cosine',
      rows: count,
      zeroVectors: 0,
      index,
      source: null,
      sourceCrs: 'EPSG:4326',
      attribution: 'Agency',
      tileSize: 256,
      stride: 256,
      bands: [0, 1, 2],
      scale: null,
      featureNames: null,
      bbox: null,
      metadata: {},
      jobId,
      ...entry,
    })
    await writeSources(session, name, jobId, [...sources].map(sourceOf))
  })
}

function sourceOf(source: number) {
  return {
    source,
    name: `s${source}`,
    datetime: `2024-0${1 + source}-01T00:00:00Z`,
    profile: null,
    crs: null,
    dataType: null,
    status: 'done' as const,
    rows: 1,
    skipped: 0,
    zeroVectors: 0,
    bbox: null,
    version: null,
    error: null,
  }
}

async function* batches(rows: Iterable<GridRow>, sources: Set<number>): AsyncGenerator<EmbeddingRow[]> {
  let batch: EmbeddingRow[] = []
  for (const { column, row, source = 0, embedding } of rows) {
    sources.add(source)
    const [west, north] = [10 + column * SIZE, 50 - row * SIZE]
    const ring = Float64Array.of(west, north, west, north - SIZE, west + SIZE, north - SIZE, west + SIZE, north)
    batch.push({ id: gridId(column, row, source), polygons: [ring], embedding, attributes: [column, row, 0, 0, 1] })
    if (batch.length < 1000) continue
    yield batch
    batch = []
  }
  yield batch
}
