import { CreateGeoEmbeddings, DEFAULT_GEO_MODEL, type EmbeddingsResult } from '@terrane/contracts'
import {
  EMBEDDINGS_SCHEMA,
  createEmbeddingTable,
  finishEmbeddingTable,
  loadEmbeddings,
  registerEmbeddings,
  relationExists,
  stagedTable,
  swapIn,
  tableExists,
  type EmbeddingTableShape,
} from '@terrane/database'
import {
  checkTileSize,
  embeddingsPerTile,
  patchGrid,
  geoTiffTiles,
  type EmbeddingBatch,
  type Engine,
  type EnginePool,
  type Model,
  type ModelManifest,
  type ModelStore,
} from '@terrane/embeddings'
import type { CrsEntry, InspectedRaster, Scale } from '@terrane/tiling/raster'
import type { JobContext, Task } from '../task.ts'
import { openArtifact, removeArtifacts, uploadArtifacts, type ArtifactFile } from './artifacts.ts'
import { noValidTiles, reservedName, tooManyPatches } from './errors.ts'
import { inspectRaster } from './inspect.ts'
import { emptyExtent, growExtent, placeRows, type Extent, type PlacedRow } from './rows.ts'
import { MAX_BYTES_SETTING, describeSource, isUrl, openSource, resolveLocal } from './source.ts'
import { Stopwatch } from './stopwatch.ts'

export interface GeoEmbeddingsDeps {
  readonly models: ModelStore
  readonly engines: EnginePool
  readonly dataRoots: readonly string[]
  /** 0 for no limit. */
  readonly maxTiles: number
  readonly maxBytes: number
  /** CRSs that the operator added. */
  readonly crs: readonly CrsEntry[]
}

/** Names in the schema that are not embedding tables. */
const RESERVED: ReadonlySet<string> = new Set(['embeddings_catalogue'])
/** Rows that are loaded at once: a load is one statement, and none may hold the database for long. */
const LOAD_ROWS = 2000
const EXPIRE_SECONDS = 24 * 3600

/** The request with every default filled in. */
type Input = Required<Omit<CreateGeoEmbeddings, 'bands' | 'scale' | 'stride' | 'projectTarget'>> &
  Pick<CreateGeoEmbeddings, 'bands' | 'scale'> & { stride: number }

/** A GeoTIFF becomes rows of vectors in `geoembeddings.{tableName}`. */
export function createGeoEmbeddingsTask(deps: GeoEmbeddingsDeps): Task<CreateGeoEmbeddings> {
  return {
    name: 'createGeoEmbeddings',
    summary: 'GeoTIFF into embeddings',
    description:
      'Tiles a GeoTIFF, embeds each tile with an ONNX model and writes geoembeddings.{tableName}, to be searched with similarity_search.',
    body: CreateGeoEmbeddings,
    expireSeconds: EXPIRE_SECONDS,
    checkSubmit: async (body, { project }) => {
      const input = withDefaults(body)
      if (RESERVED.has(input.tableName)) throw reservedName({ name: input.tableName })
      const manifest = await deps.models.find(input.modelName)
      checkTileSize(manifest, input.tileSize)
      embeddingsPerTile(manifest, input.level, input.tileSize)
      if (!isUrl(input.geotiffPath)) await resolveLocal(input.geotiffPath, deps.dataRoots)
      if (await relationExists(project.database, EMBEDDINGS_SCHEMA, input.tableName)) {
        throw tableExists({ schema: EMBEDDINGS_SCHEMA, table: input.tableName })
      }
    },
    run: (body, context) => new GeoEmbeddingsRun(deps, withDefaults(body), context).run(),
  }
}

/**
 * One run. The order of checks is that of their cost: the model's manifest, bytes, headers, tiles, georeference and bands,
 * and only then are weights loaded.
 */
class GeoEmbeddingsRun {
  private readonly deps: GeoEmbeddingsDeps
  private readonly input: Input
  private readonly context: JobContext
  private readonly watch = new Stopwatch()

  constructor(deps: GeoEmbeddingsDeps, input: Input, context: JobContext) {
    this.deps = deps
    this.input = input
    this.context = context
  }

  async run(): Promise<EmbeddingsResult> {
    const { deps, input, context, watch } = this
    const manifest = await deps.models.find(input.modelName)
    const path = await watch.time('download', openSource(input.geotiffPath, context, deps))
    this.step('inspect', 'reading the headers')
    const { inspected, scale } = await watch.time('inspect', this.inspect(path, manifest))
    this.step('model', 'loading the model')
    const model = await watch.time(
      'model',
      deps.models.acquire(input.modelName, {
        signal: context.signal,
        onProgress: (progress) => context.progress({ ...progress, phase: 'model', message: 'downloading the model' }),
      }),
    )
    using lease = await deps.engines.lease(model, context.signal)
    return await this.embed(lease.engine, path, inspected, scale)
  }

  private inspect(path: string, manifest: ModelManifest): Promise<{ inspected: InspectedRaster; scale: Scale }> {
    const { deps, input } = this
    const { tileSize, stride, edge, alignGrid, bands } = input
    const request = {
      tileSize,
      stride,
      edge,
      alignGrid,
      channels: manifest.input.bands.length,
      ...(bands && { bands }),
      maxBytes: { limit: deps.maxBytes, setting: MAX_BYTES_SETTING },
      maxTiles: { limit: deps.maxTiles, setting: 'GEOEMBEDDINGS_MAX_TILES' },
    }
    const scale = input.scale ? ([input.scale[0] as number, input.scale[1] as number] as const) : null
    const task = { path, request, scale, crs: deps.crs }
    return inspectRaster(task, this.context.signal, ({ plan }) => this.guardPatches(plan.count, manifest))
  }

  private guardPatches(tiles: number, manifest: ModelManifest): void {
    const { deps, input } = this
    const patches = tiles * embeddingsPerTile(manifest, input.level, input.tileSize)
    if (deps.maxTiles > 0 && patches > deps.maxTiles) throw tooManyPatches({ patches, limit: deps.maxTiles })
  }

  private async embed(
    engine: Engine,
    path: string,
    inspected: InspectedRaster,
    scale: Scale,
  ): Promise<EmbeddingsResult> {
    const { input, context, watch } = this
    const { model } = engine
    const { database, store } = context.project
    const shape: EmbeddingTableShape = { kind: input.level, dims: model.manifest.dims }
    const staged = stagedTable(context.jobId, 0, EMBEDDINGS_SCHEMA, input.tableName)
    const metadata = this.metadata(model, inspected, scale)
    await createEmbeddingTable(database, staged, shape)
    await using artifact = input.uploadArtifactsToStorage ? await openArtifact(context.workdir, model, metadata) : null

    const loading = this.load(engine, path, inspected, scale, artifact, (rows) =>
      loadEmbeddings(database, staged, shape, once(rows)),
    )
    const { rows, zeroVectors, skipped, extent } = await watch.time('embed', loading)
    if (rows === 0) throw noValidTiles({ tiles: inspected.plan.count, minValidFraction: input.minValidFraction })
    this.step('index', 'building the indexes')
    const approximateIndex = await watch.time('index', finishEmbeddingTable(database, staged, shape, rows))

    const bbox = [extent.west, extent.south, extent.east, extent.north] as const
    let artifacts: EmbeddingsResult['artifacts']
    if (artifact) {
      this.step('upload', 'uploading the artifacts')
      await artifact.finish()
      const item = this.stacRequest(model, inspected, scale, bbox)
      artifacts = await watch.time(
        'upload',
        uploadArtifacts(store, input.tableName, artifact.path, item, context.signal),
      )
    }
    const result: EmbeddingsResult = {
      table: `${EMBEDDINGS_SCHEMA}.${input.tableName}`,
      rows,
      dims: shape.dims,
      model: { id: model.manifest.id, sha256: model.sha256, licence: model.manifest.licence.name },
      skipped_nodata: skipped,
      scale,
      crs: `EPSG:${inspected.crs.epsg}`,
      bbox: [...bbox],
      ...(artifacts && { artifacts }),
      timings: watch.seconds(),
    }
    try {
      await swapIn(database, context.jobId, [staged], result, (session) =>
        registerEmbeddings(session, {
          tableName: input.tableName,
          kind: 'geo',
          modelName: model.manifest.id,
          modelSha256: model.sha256,
          modelLicence: model.manifest.licence.name,
          dims: shape.dims,
          level: input.level,
          normalized: input.normalizeEmbeddings,
          metric: 'cosine',
          rows,
          zeroVectors,
          approximateIndex,
          source: describeSource(input.geotiffPath),
          sourceCrs: result.crs,
          attribution: null,
          tileSize: input.tileSize,
          stride: input.stride,
          bands: inspected.bands,
          scale,
          featureNames: null,
          bbox,
          metadata,
          jobId: context.jobId,
        }),
      )
    } catch (error) {
      if (artifacts) await removeArtifacts(store, input.tableName)
      throw error
    }
    return result
  }

  /** Takes the batches as they come and loads them by chunks, so that the threads never wait for the database for long. */
  private async load(
    engine: Engine,
    path: string,
    inspected: InspectedRaster,
    scale: Scale,
    artifact: ArtifactFile | null,
    loadRows: (rows: readonly PlacedRow[]) => Promise<unknown>,
  ): Promise<{ rows: number; zeroVectors: number; skipped: number; extent: Extent }> {
    const { input, context } = this
    const run = engine.embed({
      source: geoTiffTiles({ path, inspected, scale, manifest: engine.model.manifest }),
      tileSize: input.tileSize,
      level: input.level,
      normalize: input.normalizeEmbeddings,
      minValidFraction: input.minValidFraction,
      signal: context.signal,
      onProgress: ({ etaSeconds, ...progress }) =>
        context.progress({
          ...progress,
          phase: 'embed',
          message: 'embedding tiles',
          ...(etaSeconds !== null && { etaSeconds }),
        }),
    })
    const grid = input.level === 'patch' ? patchGrid(engine.model.manifest, input.tileSize) : null
    const extent = emptyExtent()
    let pending: PlacedRow[] = []
    let rows = 0
    let zeroVectors = 0
    const flush = async () => {
      if (pending.length === 0) return
      const chunk = pending
      pending = []
      await loadRows(chunk)
      await artifact?.append(chunk)
    }
    for await (const batch of run) {
      const placed = placeRows(batch, inspected, grid)
      growExtent(extent, placed)
      rows += placed.length
      zeroVectors += countZeros(batch)
      pending.push(...placed)
      if (pending.length >= LOAD_ROWS) await flush()
    }
    await flush()
    return { rows, zeroVectors, skipped: run.skipped, extent }
  }

  private metadata(model: Model, { plan, raster, crs }: InspectedRaster, scale: Scale): Record<string, unknown> {
    const { input } = this
    return {
      model: {
        id: model.manifest.id,
        revision: model.manifest.revision,
        sha256: model.sha256,
        kind: model.manifest.kind,
      },
      source: describeSource(input.geotiffPath),
      crs: `EPSG:${crs.epsg}`,
      raster: { width: raster.width, height: raster.height, affine: raster.affine },
      tiling: {
        tile_size: plan.tileSize,
        stride: plan.stride,
        edge: plan.edge,
        align_grid: input.alignGrid,
        columns: plan.columns,
        rows: plan.rows,
      },
      scale,
      level: input.level,
      normalized: input.normalizeEmbeddings,
      min_valid_fraction: input.minValidFraction,
    }
  }

  private stacRequest(
    model: Model,
    { bands }: InspectedRaster,
    scale: Scale,
    bbox: readonly [number, number, number, number],
  ) {
    const { input } = this
    const now = new Date().toISOString()
    const { mean, std } = model.manifest.input
    return {
      datetime: now,
      created: now,
      bbox,
      source: isUrl(input.geotiffPath) ? describeSource(input.geotiffPath) : null,
      model: { manifest: model.manifest, sha256: model.sha256 },
      tiles: { size: input.tileSize, stride: input.stride, level: input.level },
      preprocessing: `((value - min) / (max - min) - mean) / std with min ${scale.min.join(' ')}, max ${scale.max.join(' ')}, mean ${mean.join(' ')}, std ${std.join(' ')}`,
      normalized: input.normalizeEmbeddings,
      bands,
    }
  }

  private step(phase: string, message: string): void {
    this.context.signal.throwIfAborted()
    this.context.progress({ phase, message, done: 0, total: null, unit: '' })
  }
}

function withDefaults(body: CreateGeoEmbeddings): Input {
  const { projectTarget: _, ...given } = body
  const tileSize = given.tileSize ?? 256
  return {
    normalizeEmbeddings: true,
    modelName: DEFAULT_GEO_MODEL,
    uploadArtifactsToStorage: false,
    edge: 'pad',
    alignGrid: false,
    minValidFraction: 0.5,
    level: 'tile',
    ...given,
    tileSize,
    stride: given.stride ?? tileSize,
  }
}

function countZeros({ embeddings, dims }: EmbeddingBatch): number {
  let zeros = 0
  for (let start = 0; start < embeddings.length; start += dims) {
    if (embeddings.subarray(start, start + dims).every((value) => value === 0)) zeros++
  }
  return zeros
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value
}
