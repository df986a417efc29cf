import { CreateSraiEmbeddings, type EmbeddingsResult } from '@terrane/contracts'
import { readAoi, type Aoi } from '@terrane/core'
import type { EmbeddingRow } from '@terrane/database/geoembeddings'
import {
  guardCells,
  openRegionRun,
  type CellGuard,
  type PolygonRings,
  type Position,
  type RegionBatch,
  type RegionRun,
  type RegionSummary,
} from '@terrane/embeddings/srai'
import {
  EmbeddingOutput,
  checkEmbeddingTable,
  type OutputOptions,
  type OutputState,
} from '../embeddings/embedding-output.ts'
import { placedRow } from '../embeddings/rows.ts'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import type { Geocoder, Place } from '../../places/geocoder.ts'
import { identityOf } from '../identity.ts'
import type { OsmImportSettings } from '../osm/settings.ts'
import { checkStoredObject } from '../stored-object.ts'
import { LOADED, type Identity, type JobContext, type Task } from '../task.ts'
import { metadataOf, publicationOf, warningsOf, type Made } from './describe.ts'
import { nothingCounted } from './errors.ts'
import { checkFeatures, obtainFeatures, type ObtainedFeatures } from './features.ts'
import { readRequest, type SraiRequest } from './request.ts'

export interface SraiEmbeddingsDeps {
  readonly osm: OsmImportSettings
  readonly geocoder: Geocoder
  /** 0 for no limit. */
  readonly maxCells: number
}

const MAX_CELLS_SETTING = 'worker.maxH3Cells'
const EXPIRE_SECONDS = 12 * 3600

/** H3 cells of an area become rows of vectors in `geoembeddings.{tableName}`, by the map features in them. */
export function createSraiEmbeddingsTask(deps: SraiEmbeddingsDeps): Task {
  const { geocoder } = deps
  return {
    name: 'createSraiEmbeddings',
    summary: 'Map features of H3 cells into embeddings',
    description:
      'Covers an area with H3 cells, counts the OpenStreetMap features in each, embeds the counts (count, ' +
      'contextual-count, hex2vec) and writes geoembeddings.{tableName}, to be searched with similarity_search.',
    body: CreateSraiEmbeddings,
    expireSeconds: EXPIRE_SECONDS,
    version: 1,
    checkSubmit: async (raw, { project, checkUrl }) => {
      const request = readRequest(raw as CreateSraiEmbeddings)
      const { area, resolution, source } = request
      if (source?.kind === 'url') checkUrl(source.url, '/source/url')
      if (source?.kind === 'storage') await checkStoredObject(project.store, source, deps.osm.maxBytes)
      await checkEmbeddingTable(project, request.tableName)
      if ('place' in area) geocoder.check(area.path)
      const aoi = 'place' in area ? null : readAoi(area.geoJson, deps.osm, area.path)
      if (aoi) guardCells({ area: polygonsOf(aoi), resolution, maxCells: guardOf(deps) })
      await checkFeatures(source, aoi, deps.osm, project)
    },
    run: (raw, context) => new SraiRun(deps, geocoder, readRequest(raw as CreateSraiEmbeddings), context).run(),
  }
}

function guardOf({ maxCells }: SraiEmbeddingsDeps): CellGuard {
  return { limit: maxCells, setting: MAX_CELLS_SETTING }
}

/** State after all cells are in the staging table. */
interface Loaded extends Made {
  readonly output: OutputState
}

/** One run. It computes the cells and checks their number before it requests map data. */
class SraiRun {
  readonly #deps: SraiEmbeddingsDeps
  readonly #geocoder: Geocoder
  readonly #request: SraiRequest
  readonly #context: JobContext
  readonly #watch = new Stopwatch()

  constructor(deps: SraiEmbeddingsDeps, geocoder: Geocoder, request: SraiRequest, context: JobContext) {
    this.#deps = deps
    this.#geocoder = geocoder
    this.#request = request
    this.#context = context
  }

  async run(): Promise<EmbeddingsResult> {
    const loaded = await this.#context.checkpoint.take<Loaded>(LOADED)
    if (loaded)
      return this.#publish(loaded, await EmbeddingOutput.open(this.#context, this.#outputOf(loaded), loaded.output))
    const { aoi, place } = await this.#watch.time('area', this.#findArea())
    const asked = Promise.withResolvers<void>()
    const obtained = Promise.withResolvers<ObtainedFeatures>()
    const opened = this.#open(aoi, async () => {
      asked.resolve()
      const { filter, source } = this.#request
      const found = await obtainFeatures(source, { aoi, filter }, this.#deps.osm, this.#context)
      obtained.resolve(found)
      return found.source
    })
    await this.#watch.time('cover', Promise.race([asked.promise, opened]))
    await this.#watch.time('features', Promise.race([obtained.promise, opened]))
    await using run = await this.#watch.time('embed', opened)
    return await this.#write(run, await obtained.promise, { aoi, place })
  }

  async #findArea(): Promise<{ aoi: Aoi; place: Place | null }> {
    const { area } = this.#request
    const { fetch, signal } = this.#context
    if ('geoJson' in area) return { aoi: readAoi(area.geoJson, this.#deps.osm, area.path), place: null }
    this.#context.progress({ phase: 'area', message: 'looking the place up', done: 0, total: null, unit: '' })
    const place = await this.#geocoder.find({ query: area.place, path: area.path, fetch, signal })
    return { aoi: readAoi(place.geoJson, this.#deps.osm, area.path), place }
  }

  #open(aoi: Aoi, source: () => Promise<ObtainedFeatures['source']>): Promise<RegionRun> {
    const { resolution, filter, embedder } = this.#request
    const { signal } = this.#context
    const maxCells = guardOf(this.#deps)
    const request = { area: polygonsOf(aoi), resolution, maxCells, filter, embedder, source }
    return openRegionRun(request, { signal, onProgress: (step) => this.#context.progress(step) })
  }

  async #write(
    run: RegionRun,
    features: ObtainedFeatures,
    area: { readonly aoi: Aoi; readonly place: Place | null },
  ): Promise<EmbeddingsResult> {
    const { summary } = run
    if (summary.features === 0) throw nothingCounted({ cells: summary.cells })
    const { source, ...about } = features
    const warnings = [...features.warnings, ...warningsOf(summary)]
    const made: Made = { summary, about, warnings, metadata: metadataOf(this.#request, summary, about, area, warnings) }
    const { path } = source.options as { readonly path: string }
    const identity = identityOf([path], made.metadata)
    const { checkpoint } = this.#context
    const kept = await checkpoint.take<OutputState>(identity)
    const output = await EmbeddingOutput.open(this.#context, this.#outputOf(made), kept)
    await this.#watch.time('load', this.#load(run.batches(), summary, output, identity))
    const loaded: Loaded = { ...made, output: output.state }
    if (checkpoint.isThere || checkpoint.isDue) await checkpoint.keep(LOADED, loaded)
    return await this.#publish(loaded, output)
  }

  #publish({ summary, about, warnings }: Loaded, output: EmbeddingOutput): Promise<EmbeddingsResult> {
    return output.publish({ ...publicationOf(this.#request, summary, about, warnings), sources: [] }, this.#watch)
  }

  #outputOf({ summary, metadata }: Made): OutputOptions {
    const { tableName, upload, strict } = this.#request
    return { tableName, shape: { kind: 'h3', dims: summary.dims }, upload, strict, metadata }
  }

  /** Loads the cells that an earlier run has not loaded. */
  async #load(
    batches: AsyncIterable<RegionBatch>,
    { cells, dims }: RegionSummary,
    output: EmbeddingOutput,
    identity: Identity,
  ): Promise<void> {
    const { checkpoint, signal } = this.#context
    const before = output.rows
    let done = 0
    for await (const batch of batches) {
      signal.throwIfAborted()
      const rows = placeCells(batch, dims, done)
      await output.append(rows.filter(({ id }) => id >= before))
      done += rows.length
      this.#context.progress({ phase: 'load', message: 'writing cells', done, total: cells, unit: 'cells' })
      if (!checkpoint.isDue || done <= before) continue
      await output.flush()
      await checkpoint.keep(identity, output.state, { rowsFollow: true })
    }
    await output.flush()
  }
}

function placeCells({ cells, polygons, embeddings }: RegionBatch, dims: number, firstId: number): EmbeddingRow[] {
  return cells.map((cell, i) =>
    placedRow({
      id: firstId + i,
      parts: polygons[i]!,
      embedding: embeddings.subarray(i * dims, (i + 1) * dims),
      attributes: [cell],
    }),
  )
}

/** The polygons of an area, as they were given. */
function polygonsOf(aoi: Aoi): PolygonRings[] {
  return aoi.given.map((rings) =>
    rings.map((ring) => Array.from({ length: ring.length / 2 }, (_, i): Position => [ring[2 * i]!, ring[2 * i + 1]!])),
  )
}
