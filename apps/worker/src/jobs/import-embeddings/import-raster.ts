import type { EmbeddingsResult, ImportEmbeddings } from '@terrane/contracts'
import { Thread } from '@terrane/core/threads'
import type { EmbeddingRow } from '@terrane/database/geoembeddings'
import type { Quantization } from '@terrane/embeddings/products'
import {
  coveredRect,
  footprint,
  tileWindow,
  type CrsEntry,
  type InspectedRaster,
  type Statistic,
} from '@terrane/tiling/raster'
import { VectorCounts } from '../create-geo-embeddings/vector-counts.ts'
import { EmbeddingOutput, type OutputState, type Publication } from '../embeddings/embedding-output.ts'
import type { Stopwatch } from '../embeddings/stopwatch.ts'
import { requireReadable } from '../open-schemas.ts'
import type { JobContext } from '../task.ts'
import { cellAreas, tableAreas, type PoolArea } from './areas.ts'
import { addressOf, epsgOf, foreignCatalogue, publicationOf, sourceOf, unused, type VectorFacts } from './describe.ts'
import {
  bandScalesDiffer,
  checkDims,
  fileUnreadable,
  nothingImported,
  poolConflict,
  poolTooLarge,
  quantizationNeeded,
  tooManyRows,
} from './errors.ts'
import { identify, type VectorIdentity } from './identity.ts'
import type { PoolMethods, PoolProgress, PooledRows } from './pool-protocol.ts'
import { productOfRaster } from './raster-product.ts'
import type { ZarrSource } from './zarr-source.ts'

const DEFAULT_TILE = 32
/** Maximum sums in memory; each takes 16 bytes or more. */
const MOST_NUMBERS = 1 << 26

/** Limits and settings of imports of rasters. */
export interface RasterImportDeps {
  readonly maxRows: number
  readonly crs: readonly CrsEntry[]
  readonly openSchemas: readonly string[]
}

/** A GeoTIFF, or a folder with objects of a Zarr store. */
interface RasterFile {
  readonly path: string
  readonly zarr: ZarrSource | null
}

/** Pools a raster into rows; its bands are the dimensions of the vectors of its pixels. */
export async function importRaster(
  body: ImportEmbeddings,
  { path, zarr }: RasterFile,
  context: JobContext,
  { deps, watch }: { readonly deps: RasterImportDeps; readonly watch: Stopwatch },
): Promise<EmbeddingsResult> {
  checkPool(body)
  await using thread = new Thread<PoolMethods, PoolProgress>(new URL('./pool.worker.ts', import.meta.url), {
    signal: context.signal,
    onEvent: (step) => context.progress({ phase: 'pool', message: 'pooling pixels', ...step, unit: 'blocks' }),
    toLostError: (why) => fileUnreadable({ why }),
    toError: (why) => fileUnreadable({ why }),
  })
  const { pool = {}, statistics = ['mean'] } = body
  const tileSize = pool.tileSize ?? DEFAULT_TILE
  const sourceSrs = epsgOf(body.sourceSrs)
  const { datetime: asked = null } = body
  const raster = { path, zarr: zarr && zarr.zarr, datetime: asked, tileSize, sourceSrs, crs: deps.crs }
  const inspected = await watch.time('inspect', thread.call('open', raster))
  const plan = await planRaster(body, inspected, { context, deps })
  const { bands, areas, datetime } = plan
  const dims = bands.length * statistics.length
  const isUnit = body.normalizeEmbeddings ?? plan.identity.product?.isUnit ?? false
  const shape = { kind: areas === null ? 'tile' : 'place', dims } as const
  const metadata = metadataOf(body, plan, inspected)
  const output = await EmbeddingOutput.open(context, {
    tableName: body.tableName,
    shape,
    upload: body.uploadArtifactsToStorage ?? false,
    strict: body.strict ?? false,
    metadata,
  })
  const objects = await thread.call('place', { areas: areas?.map(({ rings }) => rings) ?? null })
  const closed = zarr === null ? [] : await watch.time('download', zarr.fetch(objects))
  await watch.time('pool', thread.call('pool', { bands, statistics: [...statistics], rule: plan.rule, isUnit }))
  const counts = new VectorCounts(null)
  await watch.time('load', load(thread, { body, output, counts, dims, place: placerOf(inspected, areas, datetime) }))
  if (output.rows === 0) throw nothingImported({ rows: plan.rows, why: 'none has enough valid pixels.' })
  counts.check()
  const about = {
    dims,
    isUnit,
    metadata,
    warnings: [
      ...unused(body, zarr === null ? 'raster' : 'zarr'),
      ...inspected.notices,
      ...closed,
      ...counts.warnings(),
    ],
  }
  return await output.publish(describeRaster(body, inspected, plan, { ...about, state: output.state }), watch)
}

/** Description of a pooled raster for record, catalogue and sources. */
function describeRaster(
  body: ImportEmbeddings,
  inspected: InspectedRaster,
  { identity, datetime, areas, rows }: RasterPlan,
  made: Pick<VectorFacts, 'dims' | 'metadata' | 'warnings'> & { readonly isUnit: boolean; readonly state: OutputState },
): Publication {
  const { pool = {}, statistics = ['mean'] } = body
  const { isUnit, state, ...rest } = made
  const skipped = rows - state.rows
  const crs = crsOf(inspected)
  const tileSize = areas === null ? inspected.plan.tileSize : null
  const catalogue = foreignCatalogue(identity.product, {
    model_name: modelOf(identity, statistics),
    level: areas === null ? 'tile' : pool.h3Resolution === undefined ? 'place' : 'cell',
    normalized: isUnit && statistics.join() === 'mean',
    source_crs: crs,
    tile_size: tileSize,
    stride: tileSize,
    bands: body.bands ?? null,
  })
  const dataType = inspected.raster.sampleType
  const sources = [sourceOf(body, state, { datetime, crs, dataType, skipped })]
  return { ...publicationOf(body, { catalogue, product: identity.product, skipped, datetime, ...rest }), sources }
}

/** @throws CONFLICTING_FIELDS */
export function checkPool({ pool = {} }: Pick<ImportEmbeddings, 'pool'>): void {
  const ways = [pool.tileSize, pool.h3Resolution, pool.table].filter((way) => way !== undefined)
  if (ways.length > 1) throw poolConflict()
}

/** Plan for pooling a raster. */
interface RasterPlan {
  readonly identity: VectorIdentity
  /** Time of the vectors, from the request or the file. */
  readonly datetime: string | null
  readonly bands: readonly number[]
  readonly rule: {
    readonly scale: number
    readonly offset: number
    readonly isSquare: boolean
    readonly nodata: number | null
  }
  /** Null for tiles. */
  readonly areas: readonly PoolArea[] | null
  readonly rows: number
}

/** @throws PRODUCT_NEEDED, PRODUCT_MISMATCH, QUANTIZATION_NEEDED, BAND_SCALES_DIFFER, TOO_MANY_DIMENSIONS, POOL_TOO_LARGE, size_guard_exceeded, as {@link tableAreas} */
async function planRaster(
  body: ImportEmbeddings,
  inspected: InspectedRaster,
  { context, deps }: { readonly context: JobContext; readonly deps: RasterImportDeps },
): Promise<RasterPlan> {
  const { raster, crs } = inspected
  const { pool = {}, statistics = ['mean'] } = body
  const product = productOfRaster(raster, addressOf(body))
  const bands = body.bands ?? Array.from({ length: raster.samplesPerPixel }, (_, i) => i)
  // The identity is that of the whole product, also when only some bands are used.
  const identity = identify(body, product, body.bands === undefined ? bands.length : raster.samplesPerPixel)
  const rule = ruleOf(body, inspected, { ...identity, bands })
  checkDims(bands.length * statistics.length)
  const whole = { x: 0, y: 0, width: raster.width, height: raster.height }
  const ground = footprint(crs, raster.affine, whole).polygons
  const { maxRows } = deps
  let areas: PoolArea[] | null = null
  if (pool.h3Resolution !== undefined) areas = cellAreas(ground, pool.h3Resolution, maxRows)
  if (pool.table !== undefined) {
    const { schema = 'public', idColumn = 'id', table } = pool
    requireReadable(schema, deps.openSchemas)
    areas = await tableAreas(context.project.database, { schema, table, idColumn }, ground, maxRows)
  }
  const rows = areas?.length ?? inspected.plan.count
  if (maxRows > 0 && rows > maxRows) throw tooManyRows({ rows, limit: maxRows })
  const numbers = rows * bands.length * (statistics.length + 1)
  if (numbers > MOST_NUMBERS) throw poolTooLarge({ numbers, limit: MOST_NUMBERS })
  return { identity, datetime: body.datetime ?? product.datetime, bands, rule, areas, rows }
}

/** Rule for converting stored numbers of the raster to values. @throws QUANTIZATION_NEEDED, BAND_SCALES_DIFFER */
function ruleOf(
  body: ImportEmbeddings,
  { raster }: InspectedRaster,
  { product, bands }: Pick<VectorIdentity, 'product'> & Pick<RasterPlan, 'bands'>,
): RasterPlan['rule'] {
  const isInteger = raster.sampleType.includes('int')
  const nodata = body.nodata ?? raster.nodata ?? (isInteger ? (product?.nodata ?? null) : null)
  const { scale, offset } = raster.bands[bands[0]!] ?? raster.bands[0]!
  const stated: Quantization | null = scale !== 1 || offset !== 0 ? { method: 'linear', scale, offset } : null
  const found = body.quantization ?? (isInteger ? (product?.quantization ?? stated) : stated)
  if (body.quantization === undefined && !(isInteger && product?.quantization)) {
    const other = bands.find((band) => raster.bands[band]?.scale !== scale || raster.bands[band]?.offset !== offset)
    if (other !== undefined && raster.bands[other]) throw bandScalesDiffer({ bands: [bands[0]!, other] })
  }
  if (found === null && isInteger) throw quantizationNeeded({ type: raster.sampleType })
  const isSquare = found?.method === 'signed-square'
  return { scale: found?.scale ?? 1, offset: isSquare ? 0 : (found?.offset ?? 0), isSquare, nodata }
}

/** Vectors of statistics other than the mean are not comparable, so the model's name contains the statistics. */
function modelOf({ model }: VectorIdentity, statistics: readonly Statistic[]): string {
  return statistics.join() === 'mean' ? model : `${model}+${statistics.join('+')}`
}

function metadataOf(body: ImportEmbeddings, { identity, rule, bands }: RasterPlan, { raster, plan }: InspectedRaster) {
  return {
    product: identity.product?.id ?? null,
    source: addressOf(body),
    raster: { width: raster.width, height: raster.height, affine: raster.affine },
    stored_type: raster.sampleType,
    quantization: rule,
    pool: body.pool ?? { tileSize: plan.tileSize },
    statistics: body.statistics ?? ['mean'],
    bands: bands.length === raster.samplesPerPixel ? null : bands,
    facts: identity.product?.source ?? null,
  }
}

/** Makes the places and attributes of rows. */
type Placer = (zone: number, fraction: number) => Pick<EmbeddingRow, 'polygons' | 'attributes'>

function placerOf(inspected: InspectedRaster, areas: readonly PoolArea[] | null, datetime: string | null): Placer {
  if (areas !== null) {
    return (zone, fraction) => ({ polygons: areas[zone]!.outer, attributes: [areas[zone]!.id, datetime, fraction] })
  }
  const { plan, crs, raster } = inspected
  return (zone, fraction) => {
    const tile = tileWindow(plan, zone)
    const { polygons } = footprint(crs, raster.affine, coveredRect(plan, tile))
    return {
      polygons: polygons.map((ring) => Float64Array.from(ring.flat())),
      attributes: [tile.tileX, tile.tileY, tile.x, tile.y, fraction],
    }
  }
}

async function load(
  thread: Thread<PoolMethods, PoolProgress>,
  to: {
    readonly body: ImportEmbeddings
    readonly output: EmbeddingOutput
    readonly counts: VectorCounts
    readonly dims: number
    readonly place: Placer
  },
): Promise<void> {
  const { body, output, counts, dims, place } = to
  const { minValidFraction = 0.5 } = body
  for (;;) {
    const rows: PooledRows | null = await thread.call('next', { minValidFraction })
    if (rows === null) break
    counts.add(rows.vectors, dims)
    const made = rows.zones.map((zone, i): EmbeddingRow => ({
      id: zone,
      embedding: rows.vectors.subarray(i * dims, (i + 1) * dims),
      ...place(zone, rows.fractions[i]!),
    }))
    await output.append(made)
  }
  await output.flush()
}

function crsOf({ crs }: InspectedRaster): string {
  return crs.epsg === null ? crs.definition : `EPSG:${crs.epsg}`
}
