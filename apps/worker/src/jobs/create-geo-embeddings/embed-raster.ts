import type { EmbeddingsResult } from '@terrane/contracts'
import { geoTiffTiles, patchGrid, type Engine, type Model, type ModelManifest } from '@terrane/embeddings'
import type { InspectedRaster } from '@terrane/tiling/raster'
import { EmbeddingOutput, type OutputOptions, type OutputState } from '../embeddings/embedding-output.ts'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import { identityOf } from '../identity.ts'
import type { Identity, JobContext } from '../task.ts'
import type { GeoEmbeddingsDeps } from './deps.ts'
import { tileContext } from './context.ts'
import { metadataOf, publicationOf, sourceOfTable, type Provenance } from './describe.ts'
import { noValidTiles } from './errors.ts'
import { readRaster, type RasterInput } from './raster-input.ts'
import type { GeoRequest } from './request.ts'
import { placeRows } from './rows.ts'
import { openSource } from './scenes/open-source.ts'
import type { SourceFile } from './source-file.ts'
import { referenceOfRequest, type ReferenceStretch } from './stretch.ts'
import { VectorCounts, type VectorCountsState } from './vector-counts.ts'

// The steps of a run over one raster, from the cheapest to the most expensive: the model's manifest and the bytes
// (`openRaster`), headers, tiles, georeference and bands (`readInput`), and only then weights and tiles (`embedTiles`).

/** A run over one raster. */
export interface RasterRun {
  readonly deps: GeoEmbeddingsDeps
  readonly request: GeoRequest
  readonly context: JobContext
  readonly watch: Stopwatch
}

/** A raster whose rows are in the staging table of the run. */
interface EmbeddedRaster {
  readonly provenance: Provenance
  readonly output: EmbeddingOutput
  readonly skipped: number
}

/** Checkpoint of a run: all tiles before `tiles` are in the staging table, or were skipped. */
interface TileCheckpoint {
  readonly tiles: number
  readonly skipped: number
  readonly output: OutputState
  readonly vectors?: VectorCountsState
}

/** The staging table of a run, with the checkpoint of an earlier run that filled a part of it. */
interface StagedTiles {
  readonly identity: Identity
  readonly checkpoint: TileCheckpoint | null
  readonly output: EmbeddingOutput
  readonly vectors: VectorCounts
}

/** A table of one raster. */
export async function embedRaster(
  deps: GeoEmbeddingsDeps,
  request: GeoRequest,
  context: JobContext,
): Promise<EmbeddingsResult> {
  const run: RasterRun = { deps, request, context, watch: new Stopwatch() }
  const { manifest, file } = await openRaster(run)
  const raster = await readInput(run, file, manifest)
  const { provenance, output, skipped } = await embedTiles(run, file, raster)
  const source = sourceOfTable(request, raster.inspected, output.state, { deps, file, skipped })
  return output.publish({ ...publicationOf(provenance, skipped), sources: [{ source: 0, ...source }] }, run.watch)
}

/** Finds the model and opens the source as a file. @throws MODEL_UNKNOWN, and as {@link openSource} */
export async function openRaster({
  deps,
  request,
  context,
  watch,
}: RasterRun): Promise<{ manifest: ModelManifest; file: SourceFile }> {
  const manifest = await deps.models.find(request.modelName)
  return { manifest, file: await watch.time('download', openSource(request.source, context, deps)) }
}

/**
 * Reads the headers and settles the stretch.
 *
 * @param table the stretch and the check of the table that the raster is for; those of the request when absent
 * @throws as {@link readRaster}
 */
export function readInput(
  { deps, request, context, watch }: RasterRun,
  { path }: SourceFile,
  manifest: ModelManifest,
  table?: { readonly reference: ReferenceStretch; readonly check: (inspected: InspectedRaster) => void },
): Promise<RasterInput> {
  showPhase(context, 'inspect', 'reading the headers')
  const read = async () => {
    const options = table ?? { reference: await referenceOfRequest(context.project.database, request, manifest) }
    return readRaster(deps, request, manifest, { path, signal: context.signal, ...options })
  }
  return watch.time('inspect', read())
}

/** Embeds the tiles of a raster into the staging table. @throws NO_VALID_PIXELS, VECTORS_EMPTY */
export async function embedTiles(run: RasterRun, file: SourceFile, raster: RasterInput): Promise<EmbeddedRaster> {
  const { deps, request, context, watch } = run
  const { path, warnings: fileWarnings = [] } = file
  showPhase(context, 'model', 'loading the model')
  const acquired = await watch.time('model', acquireModel(deps, request.modelName, context))
  using lease = await deps.engines.lease(acquired, context.signal)
  const { engine } = lease
  const { model } = engine
  const provenance = { request, model, choice: engine.choice, fileWarnings, ...raster }
  const { plan, raster: image, bands } = raster.inspected
  const identity = identityOf([path], model.sha256, plan, image, bands, raster.scale)
  const staged = await openStaging(context, outputOptions(request, model, metadataOf(provenance)), identity)
  const { output, vectors } = staged
  const skipped = await watch.time('embed', loadTiles(run, engine, { path, ...raster }, staged))
  if (output.rows === 0) throw noValidTiles({ tiles: plan.count, minValidFraction: request.minValidFraction })
  vectors.check()
  return { provenance: { ...provenance, vectorWarnings: vectors.warnings() }, output, skipped }
}

async function openStaging(context: JobContext, options: OutputOptions, identity: Identity): Promise<StagedTiles> {
  const kept = await context.checkpoint.take<TileCheckpoint>(identity)
  const checkpoint = kept && (await EmbeddingOutput.canGoOn(context, options)) ? kept : null
  const output = await EmbeddingOutput.open(context, options, checkpoint?.output)
  return { identity, checkpoint, output, vectors: new VectorCounts(checkpoint?.vectors) }
}

/** Loads the batches in the order of their tiles; returns how many tiles were skipped. */
async function loadTiles(
  { request, context }: RasterRun,
  engine: Engine,
  { path, inspected, scale }: RasterInput & { readonly path: string },
  { identity, checkpoint, output, vectors }: StagedTiles,
): Promise<number> {
  const { manifest } = engine.model
  const { tiles: from, skipped: skippedBefore } = checkpoint ?? { tiles: 0, skipped: 0 }
  if (from > 0) showPhase(context, 'embed', `going on after ${from} tiles of an earlier run`)
  const batches = engine.embed({
    from,
    source: geoTiffTiles({ path, inspected, scale, manifest }),
    tileSize: request.tileSize,
    level: request.level,
    normalize: request.normalize,
    minValidFraction: request.minValidFraction,
    context: tileContext(request, manifest, inspected),
    signal: context.signal,
    onProgress: ({ etaSeconds, ...progress }) =>
      context.progress({
        ...progress,
        phase: 'embed',
        message: 'embedding tiles',
        ...(etaSeconds !== null && { etaSeconds }),
      }),
  })
  const grid = request.level === 'patch' ? patchGrid(manifest, request.tileSize) : null
  const keep = async (rowsFollow: boolean): Promise<void> => {
    await output.flush()
    const now: TileCheckpoint = {
      tiles: batches.done,
      skipped: skippedBefore + batches.skipped,
      output: output.state,
      vectors: vectors.state,
    }
    await context.checkpoint.keep(identity, now, { rowsFollow })
  }
  for await (const batch of batches) {
    if (context.checkpoint.isDue && output.rows > 0) await keep(true)
    vectors.add(batch.embeddings, batch.dims)
    await output.append(placeRows(batch, inspected, grid))
  }
  await output.flush()
  // Building the index rewrites all rows, so no rows follow.
  if (context.checkpoint.isThere || context.checkpoint.isDue) await keep(false)
  return skippedBefore + batches.skipped
}

function showPhase(context: JobContext, phase: string, message: string): void {
  context.signal.throwIfAborted()
  context.progress({ phase, message, done: 0, total: null, unit: '' })
}

/** The model of a job, downloaded when it is missing. */
export function acquireModel(deps: GeoEmbeddingsDeps, modelName: string, context: JobContext): Promise<Model> {
  return deps.models.acquire(modelName, {
    signal: context.signal,
    onProgress: (progress) => context.progress({ ...progress, phase: 'model', message: 'downloading the model' }),
  })
}

/** The table that a request asks for. */
export function outputOptions(
  request: GeoRequest,
  { manifest }: Model,
  metadata: Readonly<Record<string, unknown>>,
): OutputOptions {
  const { tableName, upload, strict } = request
  return { tableName, shape: { kind: request.level, dims: manifest.dims }, upload, strict, metadata }
}
