import { CreateGeoEmbeddings, DEFAULT_GEO_MODEL, type EmbeddingsResult } from '@terrane/contracts'
import {
  checkTileSize,
  embeddingsPerTile,
  patchGrid,
  geoTiffTiles,
  type Engine,
  type EnginePool,
  type Model,
  type ModelManifest,
  type ModelStore,
} from '@terrane/embeddings'
import { checkScale, type CrsEntry, type InspectedRaster, type Scale } from '@terrane/tiling/raster'
import { EmbeddingOutput, checkEmbeddingTable, type Publication } from '../embeddings/embedding-output.ts'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import type { JobContext, Task } from '../task.ts'
import { noValidTiles, tooManyPatches } from './errors.ts'
import { inspectRaster } from './inspect.ts'
import { placeRows } from './rows.ts'
import { MAX_BYTES_SETTING, describeSource, isUrl, openSource, resolveLocal } from './source.ts'

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

const EXPIRE_SECONDS = 24 * 3600

/** The request with every default filled in. */
type Input = Required<Omit<CreateGeoEmbeddings, 'bands' | 'scale' | 'stride' | 'strict' | 'projectTarget'>> &
  Pick<CreateGeoEmbeddings, 'bands' | 'scale' | 'strict'> & { stride: number }

/** A GeoTIFF becomes rows of vectors in `geoembeddings.{tableName}`. */
export function createGeoEmbeddingsTask(deps: GeoEmbeddingsDeps): Task<CreateGeoEmbeddings> {
  return {
    name: 'createGeoEmbeddings',
    summary: 'GeoTIFF into embeddings',
    description:
      'Tiles a GeoTIFF, embeds each tile with an ONNX model and writes geoembeddings.{tableName}, to be searched with similarity_search.',
    body: CreateGeoEmbeddings,
    expireSeconds: EXPIRE_SECONDS,
    checkSubmit: async (body, { project, checkUrl }) => {
      const input = withDefaults(body)
      const manifest = await deps.models.find(input.modelName)
      checkTileSize(manifest, input.tileSize)
      embeddingsPerTile(manifest, input.level, input.tileSize)
      if (input.scale) checkScale(input.scale[0]!, input.scale[1]!)
      if (isUrl(input.geotiffPath)) checkUrl(input.geotiffPath, '/geotiffPath')
      else await resolveLocal(input.geotiffPath, deps.dataRoots)
      await checkEmbeddingTable(project, input.tableName)
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
    await using output = await EmbeddingOutput.open(context, {
      tableName: input.tableName,
      shape: { kind: input.level, dims: model.manifest.dims },
      upload: input.uploadArtifactsToStorage,
      strict: input.strict ?? false,
      metadata: this.metadata(model, inspected, scale),
    })
    const skipped = await watch.time('embed', this.load(engine, path, inspected, scale, output))
    if (output.rows === 0) throw noValidTiles({ tiles: inspected.plan.count, minValidFraction: input.minValidFraction })
    return await output.publish(this.publication(model, inspected, scale, skipped), watch)
  }

  /** Takes the batches as they come; returns how many tiles were skipped. */
  private async load(
    engine: Engine,
    path: string,
    inspected: InspectedRaster,
    scale: Scale,
    output: EmbeddingOutput,
  ): Promise<number> {
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
    for await (const batch of run) await output.append(placeRows(batch, inspected, grid))
    await output.flush()
    return run.skipped
  }

  private publication(model: Model, inspected: InspectedRaster, scale: Scale, skipped: number): Publication {
    const { input } = this
    const { manifest } = model
    const licence = manifest.licence.name
    const crs = `EPSG:${inspected.crs.epsg}`
    return {
      result: { model: { id: manifest.id, sha256: model.sha256, licence }, skipped_nodata: skipped, scale, crs },
      entry: {
        kind: 'geo',
        owner: null,
        modelName: manifest.id,
        modelSha256: model.sha256,
        modelLicence: licence,
        level: input.level,
        normalized: input.normalizeEmbeddings,
        metric: 'cosine',
        source: describeSource(input.geotiffPath),
        sourceCrs: crs,
        attribution: null,
        tileSize: input.tileSize,
        stride: input.stride,
        bands: inspected.bands,
        scale,
        featureNames: null,
      },
      item: this.stacItem(model, inspected, scale),
    }
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

  private stacItem(model: Model, { bands }: InspectedRaster, scale: Scale): Publication['item'] {
    const { input } = this
    const { manifest } = model
    const { mean, std } = manifest.input
    return {
      datetime: new Date().toISOString(),
      licence: { title: manifest.licence.name, href: manifest.licence.url },
      source: {
        title: 'Source imagery',
        href: isUrl(input.geotiffPath) ? describeSource(input.geotiffPath) : null,
      },
      model: { title: manifest.title, href: manifest.files[0]?.url ?? null },
      parameters: {
        model: manifest.id,
        model_revision: manifest.revision,
        model_sha256: model.sha256,
        dimensions: manifest.dims,
        bands,
        chip_size: input.tileSize,
        stride: input.stride,
        level: input.level,
      },
      preprocessing: `((value - min) / (max - min) - mean) / std with min ${scale.min.join(' ')}, max ${scale.max.join(' ')}, mean ${mean.join(' ')}, std ${std.join(' ')}`,
      normalized: input.normalizeEmbeddings,
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
