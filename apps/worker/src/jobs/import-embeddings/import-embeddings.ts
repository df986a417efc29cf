import { join } from 'node:path'
import { ImportEmbeddings, type EmbeddingsResult } from '@terrane/contracts'
import { Thread } from '@terrane/core/threads'
import type { EmbeddingRow } from '@terrane/database/geoembeddings'
import { productOfColumns, type Quantization } from '@terrane/embeddings/products'
import { VectorCounts } from '../create-geo-embeddings/vector-counts.ts'
import { EmbeddingOutput, checkEmbeddingTable } from '../embeddings/embedding-output.ts'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import { writeSource } from '../file-import/file-source.ts'
import { checkStoredObject } from '../stored-object.ts'
import type { JobContext, Task } from '../task.ts'
import { describeImport, sourcesOf, type Imported } from './describe.ts'
import {
  fileRequired,
  fileUnreadable,
  groundSizeNeeded,
  nothingImported,
  placesNotLngLat,
  quantizationNeeded,
  tooManyDims,
  tooManyRows,
} from './errors.ts'
import { identify, type VectorIdentity } from './identity.ts'
import { ownTableOf, type OwnTable } from './own-table.ts'
import type { FileHeader, ImportedRows, ReadMethods, RowPlan } from './protocol.ts'

/** Limits of importEmbeddings. */
export interface ImportEmbeddingsDeps {
  /** Maximum size of a file; 0 for no limit. */
  readonly maxBytes: number
  /** Maximum rows; 0 for no limit. */
  readonly maxRows: number
}

/** Memory of the thread that reads, in megabytes. */
const HEAP_MB = 3072
/** Numbers of a vector that pgvector stores. */
const MAX_DIMS = 16_000
/** Usual names, the likeliest first. */
const ID_NAMES = ['id', 'chips_id', 'unique_id', 'tile_id', 'index', 'fid']
const DATETIME_NAMES = ['datetime', 'timestamp', 'date', 'acquired', 'time']

/** Ready-made embeddings become rows of vectors in `geoembeddings.{tableName}`. */
export function importEmbeddings(deps: ImportEmbeddingsDeps): Task {
  return {
    name: 'importEmbeddings',
    summary: 'Ready-made embeddings into a table',
    description:
      'Reads the vectors of a GeoParquet file, such as those of Clay, Major TOM, Earth Index or an exported table, as they are and writes ' +
      'geoembeddings.{tableName}, to be searched with similarity_search.',
    body: ImportEmbeddings,
    expireSeconds: 12 * 3600,
    version: 1,
    checkSubmit: async (raw, { project, checkUrl }) => {
      const { storagePath, url, tableName } = raw as ImportEmbeddings
      if ((storagePath === undefined) === (url === undefined)) throw fileRequired()
      if (url !== undefined) checkUrl(url, '/url')
      if (storagePath) await checkStoredObject(project.store, storagePath, deps.maxBytes || Infinity)
      await checkEmbeddingTable(project, tableName)
    },
    run: (raw, context) => runImport(raw as ImportEmbeddings, context, deps),
  }
}

async function runImport(
  body: ImportEmbeddings,
  context: JobContext,
  deps: ImportEmbeddingsDeps,
): Promise<EmbeddingsResult> {
  const watch = new Stopwatch()
  const path = join(context.workdir, 'vectors.parquet')
  await watch.time('download', download(body, path, context, deps))
  await using thread = new Thread<ReadMethods>(new URL('./read.worker.ts', import.meta.url), {
    signal: context.signal,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    toLostError: (why) => fileUnreadable({ why }),
    toError: (why) => fileUnreadable({ why }),
  })
  const header = await watch.time('inspect', thread.call('open', { path, columns: vectorColumns(body) }))
  const own = ownTableOf(header.names, header.metadata)
  const identity = own === null ? identify(body, productOfColumns(header.names, header.dims), header.dims) : null
  guardHeader(header, deps)
  const plan = planRows(body, header, own, identity)
  await thread.call('begin', plan)
  const shape = { kind: plan.kind, dims: header.dims } as const
  const made: Imported = { body, header, own, identity, plan }
  const output = await EmbeddingOutput.open(context, {
    tableName: body.tableName,
    shape: own?.catalogue.metric === 'l2' ? { ...shape, metric: 'l2' } : shape,
    upload: body.uploadArtifactsToStorage ?? false,
    strict: body.strict ?? false,
    metadata: describeImport(made).metadata,
  })
  const counts = new VectorCounts(null)
  const sources = new Set<number>()
  await watch.time('load', load(thread, { output, counts, sources, context, header }))
  const summary = await thread.call('summary', null)
  if (output.rows === 0)
    throw nothingImported({ rows: header.rows, why: summary.warnings.map((w) => w.message).join(' ') })
  counts.check(summary.invalid)
  const loaded = { summary, counts: counts.warnings(), skipped: header.rows - output.rows }
  const { publication } = describeImport(made, loaded)
  return await output.publish(
    { ...publication, sources: sourcesOf(made, output.state, sources, loaded.skipped) },
    watch,
  )
}

async function download(
  { url, storagePath }: ImportEmbeddings,
  path: string,
  context: JobContext,
  { maxBytes }: ImportEmbeddingsDeps,
): Promise<void> {
  const source = { ...(url !== undefined && { url }), ...(storagePath && { storagePath }) }
  const onBytes = (done: number, total: number | null) =>
    context.progress({ phase: 'download', message: 'downloading the file', done, total, unit: 'bytes' })
  await writeSource(
    source,
    maxBytes || Infinity,
    { fetch: context.fetch, store: context.project.store, signal: context.signal, onBytes },
    path,
  )
}

function vectorColumns({ columns = {} }: ImportEmbeddings) {
  const { vector, geometry, x, y } = columns
  return { vector, geometry, x, y }
}

/** @throws size_guard_exceeded, TOO_MANY_DIMENSIONS, UNSUPPORTED_CRS */
function guardHeader({ rows, dims, srid }: FileHeader, { maxRows }: ImportEmbeddingsDeps): void {
  if (maxRows > 0 && rows > maxRows) throw tooManyRows({ rows, limit: maxRows })
  if (dims > MAX_DIMS) throw tooManyDims({ dims, limit: MAX_DIMS })
  if (srid !== 4326) throw placesNotLngLat({ srid })
}

/** @throws QUANTIZATION_NEEDED, GROUND_SIZE_NEEDED */
function planRows(
  body: ImportEmbeddings,
  header: FileHeader,
  own: OwnTable | null,
  identity: VectorIdentity | null,
): RowPlan {
  const { columns = {}, datetime = null, normalizeEmbeddings: normalize = false } = body
  const find = (names: readonly string[]) => names.find((name) => header.names.includes(name)) ?? null
  const groundSizeMeters = body.groundSizeMeters ?? identity?.product?.groundSizeMeters ?? null
  if (header.hasPoints && groundSizeMeters === null) throw groundSizeNeeded()
  return {
    kind: own?.kind ?? 'place',
    own: own && { columns: own.columns, hasLabels: own.hasLabels },
    id: columns.id ?? find(ID_NAMES),
    datetimeColumn: columns.datetime ?? find(DATETIME_NAMES),
    datetime,
    quantization: own === null ? quantizationOf(body, header, identity) : null,
    groundSizeMeters,
    normalize,
  }
}

function quantizationOf(
  body: ImportEmbeddings,
  { storedType }: FileHeader,
  identity: VectorIdentity | null,
): Quantization | null {
  const isInteger = storedType.includes('int')
  const found = body.quantization ?? (isInteger ? (identity?.product?.quantization ?? null) : null)
  if (found === null && isInteger) throw quantizationNeeded({ type: storedType })
  return found
}

async function load(
  thread: Thread<ReadMethods>,
  to: {
    readonly output: EmbeddingOutput
    readonly counts: VectorCounts
    /** Numbers of sources, which ids of our own tables hold. */
    readonly sources: Set<number>
    readonly context: JobContext
    readonly header: FileHeader
  },
): Promise<void> {
  const { output, counts, sources, context, header } = to
  for (;;) {
    const rows = await thread.call('next', null)
    if (rows === null) break
    counts.add(rows.vectors, header.dims)
    for (const id of rows.ids) sources.add(Math.floor(id / 2 ** 32))
    await output.append(placedRows(rows, header.dims))
    context.progress({ phase: 'load', message: 'writing rows', done: rows.done, total: header.rows, unit: 'rows' })
  }
  await output.flush()
}

function placedRows({ ids, polygons, attributes, labels, vectors }: ImportedRows, dims: number): EmbeddingRow[] {
  return ids.map((id, i) => ({
    id,
    polygons: polygons[i]!,
    embedding: vectors.subarray(i * dims, (i + 1) * dims),
    attributes: attributes[i]!,
    label: labels[i]!,
  }))
}
