import { join } from 'node:path'
import type { EmbeddingsResult } from '@terrane/contracts'
import {
  EMBEDDINGS_SCHEMA,
  createEmbeddingTable,
  finishEmbeddingTable,
  isFinishedEmbeddingTable,
  loadEmbeddings,
  registerEmbeddings,
  relationExists,
  stagedTable,
  swapIn,
  tableExists,
  type CatalogueEntry,
  type EmbeddingTableShape,
  type StagedTable,
} from '@terrane/database'
import type { StacItemRequest } from '@terrane/embeddings'
import type { JobContext, Project } from '../task.ts'
import { acceptWarnings } from '../warnings.ts'
import { uploadArtifacts, writeArtifact, type UploadedArtifacts } from './artifacts.ts'
import { reservedName } from './errors.ts'
import { Extent, type PlacedRow } from './rows.ts'
import type { Stopwatch } from './stopwatch.ts'

export interface OutputOptions {
  readonly tableName: string
  readonly shape: EmbeddingTableShape
  /** Make a GeoParquet file and a STAC item, too. */
  readonly upload: boolean
  /** A warning in the result fails the job. */
  readonly strict: boolean
  /** What the catalogue and the GeoParquet file say of the making. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** What the rows themselves do not tell. */
export interface Publication {
  readonly result: Omit<EmbeddingsResult, 'table' | 'rows' | 'dims' | 'bbox' | 'artifacts' | 'timings'>
  readonly entry: Omit<
    CatalogueEntry,
    'tableName' | 'dims' | 'rows' | 'zeroVectors' | 'index' | 'bbox' | 'metadata' | 'jobId'
  >
  readonly item: Omit<StacItemRequest, 'id' | 'embeddings' | 'bbox' | 'created'>
}

/** What a later run needs to know of the rows that are in the staging table. */
export interface OutputState {
  readonly rows: number
  readonly zeroVectors: number
  readonly bbox: readonly [number, number, number, number]
}

/** Names in the schema that are not embedding tables. */
const RESERVED: ReadonlySet<string> = new Set(['embeddings_catalogue'])
/** Rows that are loaded at once: a load is one statement, and none may hold the database for long. */
const LOAD_ROWS = 2000

/** @throws RESERVED_NAME, TABLE_EXISTS */
export async function checkEmbeddingTable({ database }: Project, tableName: string): Promise<void> {
  if (RESERVED.has(tableName)) throw reservedName({ name: tableName })
  if (await relationExists(database, EMBEDDINGS_SCHEMA, tableName)) {
    throw tableExists({ schema: EMBEDDINGS_SCHEMA, table: tableName })
  }
}

/**
 * An embedding table on its way: rows go into a staging table. Publication writes a GeoParquet file of it when artifacts are
 * wanted, and makes table, catalogue row and artifacts appear together or not at all.
 */
export class EmbeddingOutput {
  /** Rows taken so far. */
  rows: number
  readonly #context: JobContext
  readonly #options: OutputOptions
  readonly #staged: StagedTable
  readonly #extent: Extent
  #zeroVectors: number
  #pending: PlacedRow[] = []

  private constructor(context: JobContext, options: OutputOptions, state: OutputState | null) {
    this.#context = context
    this.#options = options
    this.#staged = stagedTable(context.run, 0, EMBEDDINGS_SCHEMA, options.tableName)
    this.rows = state?.rows ?? 0
    this.#zeroVectors = state?.zeroVectors ?? 0
    this.#extent = new Extent(state?.bbox)
  }

  /**
   * Whether artifacts can still be made of a table that was taken over: of patches not when it is finished, which it is for
   * the moment of the swap only.
   */
  static async canGoOn({ project, run }: JobContext, { shape, upload, tableName }: OutputOptions): Promise<boolean> {
    if (!upload || shape.kind !== 'patch') return true
    return !(await isFinishedEmbeddingTable(project.database, stagedTable(run, 0, EMBEDDINGS_SCHEMA, tableName)))
  }

  /** @param kept goes on with the table that an earlier run kept in this state; null makes a new one */
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

  /** What is in the staging table once nothing waits. */
  get state(): OutputState {
    return { rows: this.rows, zeroVectors: this.#zeroVectors, bbox: this.#extent.bbox }
  }

  /** Takes rows and loads them by chunks. */
  async append(rows: readonly PlacedRow[]): Promise<void> {
    for (const row of rows) {
      this.#extent.add(row)
      if (row.embedding.every((value) => value === 0)) this.#zeroVectors++
      this.#pending.push(row)
    }
    this.rows += rows.length
    if (this.#pending.length >= LOAD_ROWS) await this.flush()
  }

  /** Loads what waits. */
  async flush(): Promise<void> {
    if (this.#pending.length === 0) return
    const chunk = this.#pending
    this.#pending = []
    await loadEmbeddings(this.#context.project.database, this.#staged, this.#options.shape, once(chunk))
  }

  /** Indexes the table, uploads the artifacts and swaps the table in. */
  async publish({ result, entry, item }: Publication, watch: Stopwatch): Promise<EmbeddingsResult> {
    const { tableName, shape, metadata } = this.#options
    const { run, signal, project } = this.#context
    const { database } = project
    const { bbox } = this.#extent
    await this.flush()
    acceptWarnings(this.#options.strict, result.warnings ?? [])
    const described = { ...item, bbox, created: new Date().toISOString() }
    const artifacts = await this.#upload(described, watch)
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
      // From the moment the artifacts are in their place a cancellation comes too late.
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
        await artifacts?.place()
      })
      return whole
    } catch (error) {
      await artifacts?.discard()
      throw error
    }
  }

  async #upload(item: Omit<StacItemRequest, 'embeddings' | 'id'>, watch: Stopwatch): Promise<UploadedArtifacts | null> {
    const { tableName, shape, metadata, upload } = this.#options
    if (!upload) return null
    const { run, signal, project, workdir } = this.#context
    this.#step('upload', 'uploading the artifacts')
    const path = join(workdir, 'embeddings.parquet')
    await watch.time('write', writeArtifact(project.database, this.#staged, shape, metadata, path))
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
