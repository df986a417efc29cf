import { CreateSraiEmbeddings, type EmbeddingsResult, type JobWarning } from '@terrane/contracts'
import { readAoi, type Aoi } from '@terrane/core'
import {
  embedderModelName,
  guardCells,
  openRegionRun,
  type CellGuard,
  type PolygonRings,
  type Position,
  type RegionBatch,
  type RegionRun,
  type RegionSummary,
} from '@terrane/embeddings/srai'
import { EmbeddingOutput, checkEmbeddingTable, type Publication } from '../embeddings/embedding-output.ts'
import { placedRow, type PlacedRow } from '../embeddings/rows.ts'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import { OSM_COPYRIGHT } from '../osm/licence.ts'
import type { OsmImportSettings } from '../osm/settings.ts'
import { checkStoredObject } from '../stored-object.ts'
import type { JobContext, Task } from '../task.ts'
import { nothingCounted } from './errors.ts'
import { checkFeatures, obtainFeatures, type ObtainedFeatures } from './features.ts'
import { Geocoder, type GeocoderSettings, type Place } from './geocoder.ts'
import { readRequest, type SraiRequest } from './request.ts'

export interface SraiEmbeddingsDeps {
  readonly osm: OsmImportSettings
  readonly geocoder: GeocoderSettings
  /** 0 for no limit. */
  readonly maxCells: number
}

const MAX_CELLS_SETTING = 'TERRANE_MAX_H3_CELLS'
const EXPIRE_SECONDS = 12 * 3600

/** H3 cells of an area become rows of vectors in `geoembeddings.{tableName}`, by the map features in them. */
export function createSraiEmbeddingsTask(deps: SraiEmbeddingsDeps): Task {
  const geocoder = new Geocoder(deps.geocoder)
  return {
    name: 'createSraiEmbeddings',
    summary: 'Map features of H3 cells into embeddings',
    description:
      'Covers an area with H3 cells, counts the OpenStreetMap features in each, embeds the counts (count, ' +
      'contextual-count, hex2vec) and writes geoembeddings.{tableName}, to be searched with similarity_search.',
    body: CreateSraiEmbeddings,
    expireSeconds: EXPIRE_SECONDS,
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

/** One run. The cells are known, and not too many, before a byte of map data is asked for. */
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
    const { tableName, upload, strict } = this.#request
    const { summary } = run
    if (summary.features === 0) throw nothingCounted({ cells: summary.cells })
    const warnings = [...features.warnings, ...warningsOf(summary)]
    await using output = await EmbeddingOutput.open(this.#context, {
      tableName,
      shape: { kind: 'h3', dims: summary.dims },
      upload,
      strict,
      metadata: this.#metadata(summary, features, area, warnings),
    })
    await this.#watch.time('load', this.#load(run.batches(), summary, output))
    return await output.publish(this.#publication(summary, features, warnings), this.#watch)
  }

  async #load(batches: AsyncIterable<RegionBatch>, { cells, dims }: RegionSummary, output: EmbeddingOutput) {
    for await (const batch of batches) {
      this.#context.signal.throwIfAborted()
      await output.append(placeCells(batch, dims, output.rows))
      const done = output.rows
      this.#context.progress({ phase: 'load', message: 'writing cells', done, total: cells, unit: 'cells' })
    }
    await output.flush()
  }

  #publication(summary: RegionSummary, features: ObtainedFeatures, warnings: readonly JobWarning[]): Publication {
    const { embedder, owner } = this.#request
    const { origin, attribution, licence, timestamp } = features
    const id = embedderModelName(embedder)
    const source = { ...origin, timestamp }
    return {
      result: {
        model: { id, sha256: summary.fingerprint, licence },
        skipped_nodata: 0,
        scale: null,
        crs: 'EPSG:4326',
        features: summary.features,
        zero_vectors: summary.zeroVectors,
        source,
        attribution,
        warnings: [...warnings],
      },
      entry: {
        kind: 'srai',
        owner,
        modelName: id,
        modelSha256: summary.fingerprint,
        modelLicence: licence,
        level: 'cell',
        normalized: false,
        metric: metricOf(summary),
        source: describeOrigin(origin),
        sourceCrs: 'EPSG:4326',
        attribution,
        tileSize: null,
        stride: null,
        bands: null,
        scale: null,
        featureNames: summary.names,
      },
      item: {
        datetime: timestamp ?? new Date().toISOString(),
        licence: { title: licence, href: OSM_COPYRIGHT },
        source: { title: attribution, href: OSM_COPYRIGHT },
        model: { title: id, href: null },
        parameters: {
          model: id,
          model_sha256: summary.fingerprint,
          dimensions: summary.dims,
          h3_resolution: this.#request.resolution,
          embedder,
          filter: this.#request.filterSent,
        },
        preprocessing: 'map features counted by tag in every H3 cell that they have a point in common with',
        normalized: false,
      },
    }
  }

  #metadata(
    summary: RegionSummary,
    { origin, attribution, licence, timestamp }: ObtainedFeatures,
    { aoi, place }: { readonly aoi: Aoi; readonly place: Place | null },
    warnings: readonly JobWarning[],
  ): Record<string, unknown> {
    const { embedder, filterSent, resolution } = this.#request
    return {
      model: { id: embedderModelName(embedder), sha256: summary.fingerprint },
      embedder,
      filter: filterSent,
      h3_resolution: resolution,
      area: { km2: Math.round(aoi.areaKm2 * 1e6) / 1e6, ...(place && { place: place.name, element: place.element }) },
      source: { ...origin, timestamp },
      attribution,
      licence,
      features: summary.features,
      counts: summary.counts,
      feature_names: summary.names,
      ...(summary.losses.length > 0 && { losses: summary.losses }),
      warnings,
    }
  }
}

function describeOrigin({ kind, url, name, prefix }: ObtainedFeatures['origin']): string {
  return String(url ?? name ?? (kind === 'tables' ? `public.${String(prefix)}_*` : kind))
}

/** Vectors of one number all point the same way: only their lengths differ. */
function metricOf({ dims }: RegionSummary): 'cosine' | 'l2' {
  return dims === 1 ? 'l2' : 'cosine'
}

/** What a person should know who searches the table by cosine. */
function warningsOf({ cells, dims, zeroVectors }: RegionSummary): JobWarning[] {
  const warnings: JobWarning[] = []
  if (dims === 1) {
    const message = 'The embeddings have one dimension: their cosine is always 1. Compare their values (metric l2).'
    warnings.push({ code: 'ONE_DIMENSION', message })
  } else if (dims < 4) {
    const message = `The embeddings have only ${dims} dimensions: many cells look alike by cosine.`
    warnings.push({ code: 'FEW_DIMENSIONS', message })
  }
  if (zeroVectors > 0) {
    const message = `${zeroVectors} of ${cells} cells have no feature: their vectors are zero, and no search finds them.`
    warnings.push({ code: 'CELLS_WITHOUT_FEATURES', message, count: zeroVectors })
  }
  return warnings
}

function placeCells({ cells, polygons, embeddings }: RegionBatch, dims: number, firstId: number): PlacedRow[] {
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
