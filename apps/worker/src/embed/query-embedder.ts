import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EmbedChip, EmbedText } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import type { Database } from '@terrane/database'
import { findEmbeddings, searchEmbeddings, type FoundEmbeddings } from '@terrane/database/geoembeddings'
import { geoTiffTiles } from '@terrane/embeddings'
import { pngToGeoTiff } from '@terrane/tiling/raster'
import { ProjectPlaces } from '../projects/project-places.ts'
import { tileContext } from '../jobs/create-geo-embeddings/context.ts'
import type { GeoEmbeddingsDeps } from '../jobs/create-geo-embeddings/deps.ts'
import { inspectRaster } from '../jobs/create-geo-embeddings/inspect.ts'
import { inspectRequest } from '../jobs/create-geo-embeddings/plan.ts'
import { checkRequest, readRequest } from '../jobs/create-geo-embeddings/request.ts'
import { differenceFrom, referenceOfTable, type StoredStretch } from '../jobs/create-geo-embeddings/stretch.ts'
import { valuesOfPng, type ChipValues } from './chip-values.ts'
import {
  chipEmpty,
  chipRescale,
  chipTooLarge,
  chipUnits,
  modelReplaced,
  queriesBusy,
  queryTooSlow,
  tableOfRegions,
  tableUnknown,
} from './errors.ts'
import { TextEncoders } from './text-encoders.ts'

/** Maximum bytes of a picture. */
export const CHIP_BYTES = 8 << 20
/** Maximum pixels of a PNG, and maximum tiles of a picture. */
const CHIP_PIXELS = 2048 * 2048
const CHIP_TILES = 64
const SECONDS = 30
/** Default number of rows of an answer. */
const ROWS = 10
/** PostgreSQL's code for a statement that ran into its timeout. */
const QUERY_CANCELED = '57014'
/** A picture as a file. */
interface Chip {
  readonly path: string
  readonly tableName: string
  readonly datetime: string | undefined
  /** Meaning of its sample values; null for stored values. */
  readonly values: ChipValues | null
}

/** Models and file access for queries; shared with jobs. */
export interface QueryEmbedderDeps extends Pick<GeoEmbeddingsDeps, 'models' | 'engines' | 'crs'> {
  readonly workdir: string
}

/** The vector of a query in the space of a table, and the rows most like it. */
export interface Answered {
  readonly table: FoundEmbeddings
  /** The vector has unit length. */
  readonly vector: Float32Array
  readonly rows: Awaited<ReturnType<typeof searchEmbeddings>>
}

type Search = Pick<EmbedText, 'tableName' | 'limit' | 'label'>

/** Project that a query is for. */
export interface QueryProject {
  /** Different for each project. */
  readonly key: string
  readonly database: Database
}

/** Maximum wait for a place that another project holds. */
const PLACE_MS = 5000

/** Embeds texts and pictures with the model of a table while the caller waits. */
export class QueryEmbedder {
  readonly #deps: QueryEmbedderDeps
  readonly #encoders: TextEncoders
  readonly #places = new ProjectPlaces({ all: 4, ofOne: 2, waitMs: PLACE_MS, busy: queriesBusy })

  constructor(deps: QueryEmbedderDeps) {
    this.#deps = deps
    this.#encoders = new TextEncoders(deps.models)
  }

  /**
   * Embeds a text and finds the most similar rows. The embedding continues when the caller leaves, because its thread
   * processes one text after the other.
   *
   * @throws EMBEDDING_TABLE_NOT_FOUND, TABLE_OF_REGIONS, TEXT_UNSUPPORTED, TEXT_TOO_LONG, QUERIES_BUSY, QUERY_TIMED_OUT
   */
  text(project: QueryProject, search: Pick<EmbedText, 'text'> & Search): Promise<Answered> {
    return this.#search(project, search, (table, late) => this.#encoders.embed(table.modelName, search.text, late))
  }

  /**
   * Embeds a text with the text part of a model, of unit length.
   *
   * @throws MODEL_UNKNOWN, TEXT_UNSUPPORTED, TEXT_TOO_LONG, QUERIES_BUSY, QUERY_TIMED_OUT
   */
  words({ key }: Pick<QueryProject, 'key'>, modelName: string, text: string): Promise<Float32Array> {
    return this.#bounded(key, (late) => this.#encoders.embed(modelName, text, late))
  }

  /**
   * Embeds a picture (GeoTIFF or PNG) and finds the most similar rows. A picture larger than a tile gives the mean of
   * its tiles.
   *
   * @throws the errors of createGeoEmbeddings about rasters and of `text`, CHIP_UNITS_UNKNOWN, CHIP_BANDS_DIFFER,
   * INVALID_SCALE, MODEL_REPLACED, NO_VALID_PIXELS
   */
  chip(
    project: QueryProject,
    search: Pick<EmbedChip, 'datetime' | 'rescale'> & Search,
    bytes: Uint8Array,
    left: AbortSignal,
  ): Promise<Answered> {
    const { tableName, datetime, rescale } = search
    return this.#search(project, search, async (table, late) => {
      const signal = AbortSignal.any([left, late])
      await mkdir(this.#deps.workdir, { recursive: true })
      const folder = await mkdtemp(join(this.#deps.workdir, 'chip-'))
      try {
        const path = join(folder, 'chip.tif')
        const png = isPng(bytes)
        if (!png && rescale !== undefined) throw chipRescale({ text: rescale, why: 'belongs to a PNG' })
        const values = png ? valuesOfPng(bytes, rescale, table) : null
        await writeFile(path, png ? await pngToGeoTiff(bytes, CHIP_PIXELS, values?.lines) : bytes)
        return await this.#embedFile(project.database, table, { path, tableName, datetime, values }, signal)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  }

  close(): Promise<void> {
    return this.#encoders.close()
  }

  async #embedFile(
    database: Database,
    table: FoundEmbeddings,
    { path, tableName, datetime, values }: Chip,
    signal: AbortSignal,
  ): Promise<Float32Array> {
    const { models, engines, crs } = this.#deps
    const request = readRequest({
      geotiffPath: path,
      tableName,
      modelName: table.modelName,
      scaleFrom: { table: tableName },
      edge: 'shift',
      level: table.level === 'patch' ? 'patch' : 'tile',
      ...(table.tileSize !== null && { tileSize: table.tileSize }),
      ...(datetime !== undefined && { datetime }),
      // The bytes are values already, so no profile applies.
      ...(values && { profile: 'none', ...(values.bands && { bands: [...values.bands] }) }),
    })
    const manifest = await models.find(table.modelName)
    checkRequest(request, manifest)
    const unit = manifest.input.unit ?? 'scaled'
    const reference = await referenceOfTable(database, tableName, manifest)
    const limits = { maxBytes: 0, maxTiles: CHIP_TILES }
    const { inspected, scale } = await inspectRaster(
      {
        path,
        request: inspectRequest(request, manifest, reference, limits),
        crs,
        scale: { explicit: null, taken: reference.ranges, unit, decibels: isDecibels(table) },
      },
      signal,
      (found) => {
        const why = values ? null : differenceFrom({ ...reference, isExplicit: false }, found)
        if (why !== null) throw chipUnits({ table: tableName, why })
      },
    ).catch((error: unknown) => {
      if (error instanceof TerraneError && error.code === 'size_guard_exceeded')
        throw chipTooLarge({ tiles: CHIP_TILES })
      throw error
    })
    const model = await models.acquire(table.modelName, { signal })
    if (model.sha256 !== table.modelSha256) throw modelReplaced({ table: tableName, model: table.modelName })
    using lease = await engines.lease(model, signal)
    const sum = new Float64Array(table.dims)
    const run = lease.engine.embed({
      source: geoTiffTiles({ path, inspected, scale, manifest }),
      tileSize: request.tileSize,
      level: request.level,
      minValidFraction: request.minValidFraction,
      context: tileContext(request, manifest, inspected),
      signal,
    })
    for await (const { embeddings } of run) {
      for (const [i, value] of embeddings.entries()) sum[i % table.dims]! += value
    }
    const length = Math.hypot(...sum)
    if (length === 0) throw chipEmpty()
    return Float32Array.from(sum, (value) => value / length)
  }

  #search(
    { key, database }: QueryProject,
    { tableName, limit = ROWS, label }: Search,
    embed: (table: FoundEmbeddings, late: AbortSignal) => Promise<Float32Array>,
  ): Promise<Answered> {
    return this.#bounded(key, async (late, end) => {
      const table = await findTable(database, tableName)
      const vector = await embed(table, late)
      const milliseconds = Math.max(1, Math.floor(end - performance.now()))
      const search = { vector, limit, label: label ?? null, milliseconds }
      return { table, vector, rows: limit === 0 ? [] : await searchEmbeddings(database, tableName, search) }
    })
  }

  /** Answers a query in one of the places of a project, within the time. `end` is that of `performance.now()`. */
  async #bounded<T>(key: string, answer: (late: AbortSignal, end: number) => Promise<T>): Promise<T> {
    using _place = await this.#places.take(key)
    const end = performance.now() + SECONDS * 1000
    const late = AbortSignal.timeout(SECONDS * 1000)
    try {
      return await answer(late, end)
    } catch (error) {
      if (late.aborted || codeOf(error) === QUERY_CANCELED) throw queryTooSlow({ seconds: SECONDS }, { cause: error })
      throw error
    }
  }
}

async function findTable(database: Database, tableName: string): Promise<FoundEmbeddings> {
  const table = await findEmbeddings(database, tableName)
  if (table === null) throw tableUnknown({ table: tableName })
  if (table.kind !== 'geo') throw tableOfRegions({ table: tableName })
  return table
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function isDecibels({ scale }: FoundEmbeddings): boolean {
  return (scale as Partial<StoredStretch> | null)?.decibels === true
}

function isPng(bytes: Uint8Array): boolean {
  return [0x89, 0x50, 0x4e, 0x47].every((byte, i) => bytes[i] === byte)
}
