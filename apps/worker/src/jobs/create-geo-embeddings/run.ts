import type { EmbeddingsResult } from '@terrane/contracts'
import type { Queryable } from '@terrane/database'
import { geoTiffTiles, patchGrid, type Engine, type Model, type ModelManifest } from '@terrane/embeddings'
import type { InspectedRaster } from '@terrane/tiling/raster'
import { EmbeddingOutput, type OutputOptions, type OutputState } from '../embeddings/embedding-output.ts'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import { identityOf } from '../identity.ts'
import type { Identity, JobContext } from '../task.ts'
import type { GeoEmbeddingsDeps } from './create-geo-embeddings.ts'
import { tileContext } from './context.ts'
import { metadataOf, publicationOf, sourceOfTable, type Making } from './describe.ts'
import { noValidTiles, scaleNotTaken } from './errors.ts'
import { inspectRaster, type ScaledRaster } from './inspect.ts'
import { guardPatches, inspectRequest } from './plan.ts'
import type { GeoRequest } from './request.ts'
import { placeRows } from './rows.ts'
import { openSource, type OpenSource } from './source.ts'
import { VectorCounts, type VectorCountsState } from './vector-counts.ts'
import { storedStretch, takeStretch, whyOther, type StoredStretch, type TakenStretch } from './stretch.ts'

/** How the raster is read. */
export interface Reading extends ScaledRaster {
  readonly stretch: StoredStretch
}

/** What goes into the table, and what of it is there. */
interface Loading {
  readonly path: string
  readonly reading: Reading
  readonly output: EmbeddingOutput
  readonly identity: Identity
  readonly done: TilesDone | null
  readonly vectors: VectorCounts
}

/** How far a run has come: all tiles before `tiles` are in the staging table, or were skipped. */
interface TilesDone {
  readonly tiles: number
  readonly skipped: number
  readonly output: OutputState
  readonly vectors?: VectorCountsState
}

/** A raster that is loaded: its rows are in the staging table of the run. */
export interface Loaded {
  readonly making: Making
  readonly source: OpenSource
  readonly output: EmbeddingOutput
  readonly skipped: number
  readonly watch: Stopwatch
}

/** What a run does with a raster beside embedding it. */
export interface Purpose<Result> {
  /** The stretch that it is to have, in the place of what the request says. */
  readonly taken: TakenStretch | null
  /** Looks at the file before its headers are read; a result ends the run. */
  begin(source: OpenSource): Result | null
  /** Looks at what the headers tell; what it throws ends the run. */
  accept(inspected: InspectedRaster): void
  finish(loaded: Loaded): Promise<Result>
}

/**
 * One run over one raster. The order of checks is that of their cost: the model's manifest, bytes, headers, tiles,
 * georeference and bands, and only then are weights loaded.
 */
export class RasterRun<Result> {
  readonly #deps: GeoEmbeddingsDeps
  readonly #request: GeoRequest
  readonly #context: JobContext
  readonly #purpose: Purpose<Result>
  readonly #watch = new Stopwatch()

  constructor(deps: GeoEmbeddingsDeps, request: GeoRequest, context: JobContext, purpose: Purpose<Result>) {
    this.#deps = deps
    this.#request = request
    this.#context = context
    this.#purpose = purpose
  }

  async run(): Promise<Result> {
    const [deps, request, context, watch] = [this.#deps, this.#request, this.#context, this.#watch] as const
    const manifest = await deps.models.find(request.modelName)
    const source = await watch.time('download', openSource(request.source, context, deps))
    const before = this.#purpose.begin(source)
    if (before !== null) return before
    this.#step('inspect', 'reading the headers')
    const reading = await watch.time('inspect', this.#inspect(source.path, manifest))
    this.#step('model', 'loading the model')
    const model = await watch.time(
      'model',
      deps.models.acquire(request.modelName, {
        signal: context.signal,
        onProgress: (progress) => context.progress({ ...progress, phase: 'model', message: 'downloading the model' }),
      }),
    )
    using lease = await deps.engines.lease(model, context.signal)
    return await this.#embed(lease.engine, source, reading)
  }

  async #inspect(path: string, manifest: ModelManifest): Promise<Reading> {
    const [deps, request, context] = [this.#deps, this.#request, this.#context] as const
    const { signal } = context
    const taken = this.#purpose.taken ?? (await takenOf(context.project.database, request, manifest))
    const accept = this.#purpose.accept.bind(this.#purpose)
    return readRaster(deps, request, manifest, { path, taken, accept, signal })
  }

  async #embed(engine: Engine, source: OpenSource, reading: Reading): Promise<Result> {
    const [request, context, watch] = [this.#request, this.#context, this.#watch] as const
    const { model } = engine
    const making = { request, model, choice: engine.choice, ...reading }
    const options = outputOptions(request, model, metadataOf(making))
    const { plan: tiles, raster, bands } = reading.inspected
    const identity = identityOf([source.path], model.sha256, tiles, raster, bands, reading.scale)
    const kept = await context.checkpoint.take<TilesDone>(identity)
    const done = kept && (await EmbeddingOutput.canGoOn(context, options)) ? kept : null
    const output = await EmbeddingOutput.open(context, options, done?.output)
    const vectors = new VectorCounts(done?.vectors)
    const loading = { path: source.path, reading, output, identity, done, vectors }
    const skipped = await watch.time('embed', this.#load(engine, loading))
    const { plan } = reading.inspected
    if (output.rows === 0) throw noValidTiles({ tiles: plan.count, minValidFraction: request.minValidFraction })
    vectors.check()
    const warned = { ...making, vectorWarnings: vectors.warnings() }
    return await this.#purpose.finish({ making: warned, source, output, skipped, watch })
  }

  /** Takes the batches as they come; returns how many tiles were skipped. */
  async #load(
    engine: Engine,
    { path, reading: { inspected, scale }, output, identity, done, vectors }: Loading,
  ): Promise<number> {
    const [request, context] = [this.#request, this.#context] as const
    const { tiles: from, skipped: skippedBefore } = done ?? { tiles: 0, skipped: 0 }
    if (from > 0) this.#step('embed', `going on after ${from} tiles of an earlier run`)
    const run = engine.embed({
      from,
      source: geoTiffTiles({ path, inspected, scale, manifest: engine.model.manifest }),
      tileSize: request.tileSize,
      level: request.level,
      normalize: request.normalize,
      minValidFraction: request.minValidFraction,
      context: tileContext(request, engine.model.manifest, inspected),
      signal: context.signal,
      onProgress: ({ etaSeconds, ...progress }) =>
        context.progress({
          ...progress,
          phase: 'embed',
          message: 'embedding tiles',
          ...(etaSeconds !== null && { etaSeconds }),
        }),
    })
    const grid = request.level === 'patch' ? patchGrid(engine.model.manifest, request.tileSize) : null
    const keep = async (rowsFollow: boolean): Promise<void> => {
      await output.flush()
      const now: TilesDone = {
        tiles: run.done,
        skipped: skippedBefore + run.skipped,
        output: output.state,
        vectors: vectors.state,
      }
      await context.checkpoint.keep(identity, now, { rowsFollow })
    }
    for await (const batch of run) {
      if (context.checkpoint.isDue && output.rows > 0) await keep(true)
      vectors.add(batch.embeddings, batch.dims)
      await output.append(placeRows(batch, inspected, grid))
    }
    await output.flush()
    // What finishes the table writes all rows anew: they are none that follow.
    if (context.checkpoint.isThere || context.checkpoint.isDue) await keep(false)
    return skippedBefore + run.skipped
  }

  #step(phase: string, message: string): void {
    this.#context.signal.throwIfAborted()
    this.#context.progress({ phase, message, done: 0, total: null, unit: '' })
  }
}

/** A table of one raster. */
export function embedRaster(
  deps: GeoEmbeddingsDeps,
  request: GeoRequest,
  context: JobContext,
): Promise<EmbeddingsResult> {
  return new RasterRun<EmbeddingsResult>(deps, request, context, {
    taken: null,
    begin: () => null,
    accept: () => {},
    finish: ({ making, source, output, skipped, watch }) => {
      const { inspected } = making
      const sources = [{ source: 0, ...sourceOfTable(request, inspected, output.state, { deps, source, skipped }) }]
      return output.publish({ ...publicationOf(making, skipped), sources }, watch)
    },
  }).run()
}

/** The stretch of the table that a request names in `scaleFrom`; null without one. @throws SCALE_FROM_UNUSABLE */
export async function takenOf(
  database: Queryable,
  { scaleFrom }: GeoRequest,
  { input }: ModelManifest,
): Promise<TakenStretch | null> {
  if (scaleFrom === null) return null
  return takeStretch(database, scaleFrom, { channels: input.bands.length, unit: input.unit ?? 'scaled' })
}

interface RasterToRead {
  readonly path: string
  readonly taken: TakenStretch | null
  /** Looks at what the headers tell; what it throws ends the reading. */
  readonly accept?: (inspected: InspectedRaster) => void
  readonly signal: AbortSignal
}

/** Checks a raster by its headers and settles its stretch. @throws SCALE_FROM_UNUSABLE, SAMPLES_CLAMPED */
export async function readRaster(
  deps: GeoEmbeddingsDeps,
  request: GeoRequest,
  manifest: ModelManifest,
  { path, taken, accept, signal }: RasterToRead,
): Promise<Reading> {
  const unit = manifest.input.unit ?? 'scaled'
  const task = {
    path,
    request: inspectRequest(request, manifest, taken, deps),
    crs: deps.crs,
    scale: { explicit: request.scale, taken: taken?.ranges ?? null, unit },
  }
  const read = await inspectRaster(task, signal, (inspected) => {
    guardPatches(inspected.plan.count, request, manifest, deps.maxPatches)
    const why = request.scaleFrom === null || taken === null ? null : whyOther(taken, inspected)
    if (why !== null) throw scaleNotTaken({ table: request.scaleFrom!, why })
    accept?.(inspected)
  })
  return { ...read, stretch: storedStretch(read.inspected, read.scale, unit, read.clamped) }
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
