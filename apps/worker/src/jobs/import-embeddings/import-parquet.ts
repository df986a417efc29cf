import type { EmbeddingsResult, ImportEmbeddings } from '@terrane/contracts'
import { Thread } from '@terrane/core/threads'
import type { EmbeddingRow } from '@terrane/database/geoembeddings'
import { productOfColumns, type Quantization } from '@terrane/embeddings/products'
import { sourceSrsNeeded } from '@terrane/files'
import { VectorCounts } from '../create-geo-embeddings/vector-counts.ts'
import { EmbeddingOutput, type OutputState } from '../embeddings/embedding-output.ts'
import type { Stopwatch } from '../embeddings/stopwatch.ts'
import type { JobContext } from '../task.ts'
import { addressOf, epsgOf, foreignCatalogue, publicationOf, sourceOf, unused } from './describe.ts'
import {
  checkDims,
  fileUnreadable,
  groundSizeNeeded,
  nothingImported,
  quantizationNeeded,
  tooManyRows,
} from './errors.ts'
import type { RasterImportDeps } from './import-raster.ts'
import { identify, type VectorIdentity } from './identity.ts'
import { ownTableOf, type OwnTable } from './own-table.ts'
import type { FileHeader, ImportedRows, ReadMethods, RowPlan } from './protocol.ts'

/** Heap of the thread that reads, in megabytes. */
const HEAP_MB = 3072
/** Usual names of the id column, the most likely first. */
const ID_NAMES = ['id', 'chips_id', 'unique_id', 'tile_id', 'index', 'fid']
const DATETIME_NAMES = ['datetime', 'timestamp', 'date', 'acquired', 'time']

/** Makes a table from the vectors of a Parquet file, unchanged. */
export async function importParquet(
  body: ImportEmbeddings,
  path: string,
  context: JobContext,
  { deps, watch }: { readonly deps: Pick<RasterImportDeps, 'maxRows' | 'crs'>; readonly watch: Stopwatch },
): Promise<EmbeddingsResult> {
  await using thread = new Thread<ReadMethods>(new URL('./read.worker.ts', import.meta.url), {
    signal: context.signal,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    toLostError: (why) => fileUnreadable({ why }),
    toError: (why) => fileUnreadable({ why }),
  })
  const header = await watch.time('inspect', thread.call('open', { path, columns: vectorColumns(body) }))
  const own = ownTableOf(header.names, header.metadata)
  const identity =
    own === null ? identify(body, productOfColumns(header.names, header.dims, body.product), header.dims) : null
  guardHeader(header, deps)
  const plan = planRows(body, header, { own, identity, crs: deps.crs })
  await thread.call('begin', plan)
  const metadata = metadataOf(body, header, plan, identity)
  const shape = { kind: plan.kind, dims: header.dims } as const
  const output = await EmbeddingOutput.open(context, {
    tableName: body.tableName,
    shape: own?.catalogue.metric === 'l2' ? { ...shape, metric: 'l2' } : shape,
    upload: body.uploadArtifactsToStorage ?? false,
    strict: body.strict ?? false,
    metadata,
  })
  const counts = new VectorCounts(null)
  const numbers = new Set<number>()
  await watch.time('load', load(thread, { output, counts, numbers, context, header }))
  const { invalid, isUnit, warnings } = await thread.call('summary', null)
  if (output.rows === 0) {
    throw nothingImported({ rows: header.rows, why: warnings.map(({ message }) => message).join(' ') })
  }
  counts.check(invalid)
  const product = identity?.product ?? null
  const facts = {
    catalogue:
      own?.catalogue ??
      foreignCatalogue(product, { model_name: identity!.model, level: 'place', normalized: plan.normalize || isUnit }),
    product,
    dims: header.dims,
    skipped: header.rows - output.rows,
    warnings: [...unused(body, own === null ? 'parquet' : 'own'), ...warnings, ...counts.warnings()],
    datetime: null,
    metadata,
  }
  const sources = sourcesOf(body, { own, header, numbers }, output.state)
  return await output.publish({ ...publicationOf(body, facts), sources }, watch)
}

/** The file as a source, or the sources of one of our own tables, by the numbers in its ids. */
function sourcesOf(
  body: ImportEmbeddings,
  {
    own,
    header,
    numbers,
  }: { readonly own: OwnTable | null; readonly header: FileHeader; readonly numbers: ReadonlySet<number> },
  output: OutputState,
) {
  const known = new Map(own?.catalogue.sources.map((source) => [source.source, source]))
  const isOne = numbers.size <= 1
  return [...numbers]
    .toSorted((a, b) => a - b)
    .map((source) => {
      const {
        datetime = null,
        profile = null,
        crs = 'EPSG:4326',
        data_type: dataType = header.storedType,
      } = known.get(source) ?? {}
      const about = { datetime, crs, dataType, skipped: header.rows - output.rows }
      const whole = { ...sourceOf(body, output, about), source, profile }
      if (isOne) return whole
      return { ...whole, name: `${whole.name}#${source}`, rows: 0, skipped: 0, zeroVectors: 0, bbox: null }
    })
}

function metadataOf(body: ImportEmbeddings, header: FileHeader, plan: RowPlan, identity: VectorIdentity | null) {
  return {
    product: identity?.product?.id ?? null,
    source: addressOf(body),
    datetime: body.datetime ?? null,
    stored_type: header.storedType,
    quantization: plan.quantization,
    ground_size_meters: header.hasPoints ? plan.groundSizeMeters : null,
    facts: identity?.product?.source ?? null,
  }
}

function vectorColumns({ columns = {}, sourceSrs }: ImportEmbeddings) {
  const { vector, geometry, x, y } = columns
  return { vector, geometry, x, y, srid: epsgOf(sourceSrs) ?? undefined }
}

/** @throws size_guard_exceeded, TOO_MANY_DIMENSIONS, SOURCE_SRS_NEEDED */
function guardHeader(
  { rows, dims, srid, isBeyondDegrees }: FileHeader,
  { maxRows }: { readonly maxRows: number },
): void {
  if (maxRows > 0 && rows > maxRows) throw tooManyRows({ rows, limit: maxRows })
  checkDims(dims)
  if (srid === null || isBeyondDegrees) throw sourceSrsNeeded()
}

/** @throws QUANTIZATION_NEEDED, GROUND_SIZE_NEEDED */
function planRows(
  body: ImportEmbeddings,
  header: FileHeader,
  about: {
    readonly own: OwnTable | null
    readonly identity: VectorIdentity | null
    readonly crs: RowPlan['crs']
  },
): RowPlan {
  const { own, identity, crs } = about
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
    srid: header.srid!,
    crs,
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
    /** Numbers of sources, which are part of the ids of our own tables. */
    readonly numbers: Set<number>
    readonly context: JobContext
    readonly header: FileHeader
  },
): Promise<void> {
  const { output, counts, numbers, context, header } = to
  for (;;) {
    const rows = await thread.call('next', null)
    if (rows === null) break
    counts.add(rows.vectors, header.dims)
    for (const id of rows.ids) numbers.add(Math.floor(id / 2 ** 32))
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
