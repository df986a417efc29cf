import { join } from 'node:path'
import type { EmbeddingsResult } from '@terrane/contracts'
import type { Session } from '@terrane/database'
import { addToCollection, appendCollection, collectionTable, type AppendedTable } from '@terrane/database/collections'
import {
  EMBEDDINGS_SCHEMA,
  createEmbeddingTable,
  finishEmbeddingTable,
  isFinishedEmbeddingTable,
  loadEmbeddings,
  portableEntry,
  registerEmbeddings,
  writeSources,
  type CatalogueEntry,
  type EmbeddingRow,
  type EmbeddingSource,
  type EmbeddingTableShape,
} from '@terrane/database/geoembeddings'
import { relationExists, stagedTable, swapIn, tableExists, type StagedTable } from '@terrane/database/staging'
import type { StacItemRequest } from '@terrane/embeddings'
import type { JobContext, Project } from '../task.ts'
import { acceptWarnings } from '../warnings.ts'
import { uploadArtifacts, writeArtifact, type UploadedArtifacts } from './artifacts.ts'
import { reservedName } from './errors.ts'
import { Extent } from './rows.ts'
import type { Stopwatch } from './stopwatch.ts'

export interface OutputOptions {
  readonly tableName: string
  readonly shape: EmbeddingTableShape
  /** Also makes a GeoParquet file and a STAC item. */
  readonly upload: boolean
  /** A warning in the result fails the job. */
  readonly strict: boolean
  /** Metadata of the catalogue and of the GeoParquet file. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Facts about a table that are not in its rows. */
export interface Publication {
  /** Rasters that the table was made from; empty for tables of regions. */
  readonly sources: readonly (EmbeddingSource & { readonly source: number })[]
  readonly result: Omit<EmbeddingsResult, 'table' | 'rows' | 'dims' | 'bbox' | 'artifacts' | 'timings'>
  readonly entry: Omit<
    CatalogueEntry,
    'tableName' | 'dims' | 'rows' | 'zeroVectors' | 'index' | 'bbox' | 'metadata' | 'jobId'
  >
  readonly item: Omit<StacItemRequest, 'id' | 'embeddings' | 'bbox' | 'created'>
}

/** Facts about the rows in the staging table that a later run needs. */
export interface OutputState {
  readonly rows: number
  readonly zeroVectors: number
  readonly bbox: readonly [number, number, number, number]
}

/** Names in the schema that are not embedding tables. */
const RESERVED: ReadonlySet<string> = new Set(['embeddings_catalogue', 'embedding_sources', 'embedding_origins'])
/** Rows per statement, so that no load occupies the database for long. */
const LOAD_ROWS = 2000

/** @throws RESERVED_NAME, TABLE_EXISTS */
export async function checkEmbeddingTable({ database }: Project, tableName: string): Promise<void> {
  if (RESERVED.has(tableName)) throw reservedName({ name: tableName })
  if (await relationExists(database, EMBEDDINGS_SCHEMA, tableName)) {
    throw tableExists({ schema: EMBEDDINGS_SCHEMA, table: tableName, field: 'tableName' })
  }
}

/** An embedding table in the making, in staging. Table, catalogue row and artifacts appear together or not at all. */
export class EmbeddingOutput {
  /** Rows appended so far. */
  rows: number
  readonly #context: JobContext
  readonly #options: OutputOptions
  readonly #staged: StagedTable
  readonly #extent: Extent
  #zeroVectors: number
  #pending: EmbeddingRow[] = []

  private constructor(
    context: JobContext,
    options: OutputOptions,
    state: OutputState | null,
    staged = stagedTable(context.run, 0, EMBEDDINGS_SCHEMA, options.tableName),
  ) {
    this.#context = context
    this.#options = options
    this.#staged = staged
    this.rows = state?.rows ?? 0
    this.#zeroVectors = state?.zeroVectors ?? 0
    this.#extent = new Extent(state?.bbox)
  }

  /** Whether a run can continue with an earlier staging table; not with patches to upload whose swap had begun. */
  static async canGoOn({ project, run }: JobContext, { shape, upload, tableName }: OutputOptions): Promise<boolean> {
    if (!upload || shape.kind !== 'patch') return true
    return !(await isFinishedEmbeddingTable(project.database, stagedTable(run, 0, EMBEDDINGS_SCHEMA, tableName)))
  }

  /** @param kept state of an earlier run's table, to continue with it; null for a new table */
  static async open(
    context: JobContext,
    options: OutputOptions,
    kept: OutputState | null = null,
  ): Promise<EmbeddingOutput> {
    const shape = { ...options.shape, wholeNumbers: options.upload }
    const output = new EmbeddingOutput(context, { ...options, shape }, kept)
    if (kept) return output
    await context.checkpoint.clear()
    await createEmbeddingTable(context.project.database, output.#staged, shape)
    return output
  }

  /** The table that the shards of a job have filled. */
  static ofCollection(context: JobContext, options: OutputOptions, state: OutputState): EmbeddingOutput {
    const shape = { ...options.shape, wholeNumbers: options.upload }
    const staged = collectionTable(context.run.jobId, options.tableName)
    return new EmbeddingOutput(context, { ...options, shape }, state, staged)
  }

  /** State of the staging table; call it after {@link flush}. */
  get state(): OutputState {
    return { rows: this.rows, zeroVectors: this.#zeroVectors, bbox: this.#extent.bbox }
  }

  /** Appends rows and loads them in chunks. */
  async append(rows: readonly EmbeddingRow[]): Promise<void> {
    for (const row of rows) {
      this.#extent.add(row)
      if (row.embedding.every((value) => value === 0)) this.#zeroVectors++
      this.#pending.push(row)
    }
    this.rows += rows.length
    if (this.#pending.length >= LOAD_ROWS) await this.flush()
  }

  /** Loads the rows that are still in memory. */
  async flush(): Promise<void> {
    if (this.#pending.length === 0) return
    const chunk = this.#pending
    this.#pending = []
    await loadEmbeddings(this.#context.project.database, this.#staged, this.#options.shape, once(chunk))
  }

  /** Indexes the table, uploads the artifacts and swaps the table in. */
  async publish({ result, entry, item, sources }: Publication, watch: Stopwatch): Promise<EmbeddingsResult> {
    const { tableName, shape, metadata } = this.#options
    const { run, signal, project } = this.#context
    const { database } = project
    const { bbox } = this.#extent
    await this.flush()
    acceptWarnings(this.#options.strict, result.warnings ?? [])
    const described = { ...item, bbox, created: new Date().toISOString() }
    const artifacts = await this.#upload(described, { catalogue: portableEntry(entry, sources) }, watch)
    try {
      this.#step('index', 'building the indexes')
      const indexing = finishEmbeddingTable(database, this.#staged, shape, this.rows)
      const index = await watch.time('index', indexing)
      const whole: EmbeddingsResult = {
        table: `${EMBEDDINGS_SCHEMA}.${tableName}`,
        rows: this.rows,
        dims: shape.dims,
        ...result,
        bbox: [...bbox],
        ...(artifacts && { artifacts: [...artifacts.files] }),
        timings: watch.seconds(),
      }
      const zeroVectors = this.#zeroVectors
      const { rows } = this
      signal.throwIfAborted()
      // Once the artifacts have their final names, the job can no longer be cancelled.
      const unstoppable = database.withSignal(new AbortController().signal)
      await swapIn(unstoppable, run, [this.#staged], whole, async (session) => {
        await registerEmbeddings(session, {
          ...entry,
          tableName,
          dims: shape.dims,
          rows,
          zeroVectors,
          index,
          bbox,
          metadata,
          jobId: run.jobId,
        })
        if (sources.length > 0) await writeSources(session, tableName, run.jobId, sources)
        await artifacts?.place()
      })
      return whole
    } catch (error) {
      await artifacts?.discard()
      throw error
    }
  }

  /** Hands the rows over to the collection that this run is a shard of. */
  async give<Result>(to: { readonly jobId: string; readonly shard: number }, result: Result): Promise<Result> {
    const { run, signal, project } = this.#context
    await this.flush()
    signal.throwIfAborted()
    await swapIn(project.database, run, [], result, (session) =>
      addToCollection(session, this.#staged, { ...to, kind: this.#options.shape.kind }),
    )
    return result
  }

  /**
   * Adds a collection to the existing table.
   *
   * @param sources by the number of the shard
   * @param check checks the table while it is locked against changes
   */
  async appendTo(
    sources: ReadonlyMap<number, EmbeddingSource>,
    describe: (table: AppendedTable) => EmbeddingsResult,
    check: (session: Session) => Promise<void>,
  ): Promise<EmbeddingsResult> {
    const { shape } = this.#options
    const { run, signal, project } = this.#context
    this.#step('append', 'adding the rows to the table')
    signal.throwIfAborted()
    const database = project.database.withSignal(new AbortController().signal)
    const whole = {} as EmbeddingsResult
    await swapIn(database, run, [], whole, async (session) => {
      await check(session)
      const table = await appendCollection(session, database, this.#staged, { jobId: run.jobId, shape, sources })
      Object.assign(whole, describe(table))
    })
    return whole
  }

  async #upload(
    item: Omit<StacItemRequest, 'embeddings' | 'id'>,
    about: Readonly<Record<string, unknown>>,
    watch: Stopwatch,
  ): Promise<UploadedArtifacts | null> {
    const { tableName, shape, metadata, upload } = this.#options
    if (!upload) return null
    const { run, signal, project, workdir } = this.#context
    this.#step('upload', 'uploading the artifacts')
    const path = join(workdir, 'embeddings.parquet')
    await watch.time('write', writeArtifact(project.database, this.#staged, shape, { ...metadata, ...about }, path))
    return watch.time('upload', uploadArtifacts(project.store, { tableName, run }, path, item, signal))
  }

  #step(phase: string, message: string): void {
    this.#context.signal.throwIfAborted()
    this.#context.progress({ phase, message, done: 0, total: null, unit: '' })
  }
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value
}
