import type { EmbeddingsResult } from '@terrane/contracts'
import {
  EMBEDDINGS_SCHEMA,
  createEmbeddingTable,
  dropStaging,
  finishEmbeddingTable,
  loadEmbeddings,
  registerEmbeddings,
  relationExists,
  stagedTable,
  swapIn,
  tableExists,
  trimEmbeddings,
  type CatalogueEntry,
  type EmbeddingTableShape,
  type StagedTable,
} from '@terrane/database'
import type { StacItemRequest } from '@terrane/embeddings'
import type { JobContext, Project } from '../task.ts'
import { acceptWarnings } from '../warnings.ts'
import { openArtifact, uploadArtifacts, type ArtifactFile, type UploadedArtifacts } from './artifacts.ts'
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
    'tableName' | 'dims' | 'rows' | 'zeroVectors' | 'approximateIndex' | 'bbox' | 'metadata' | 'jobId'
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
 * An embedding table on its way: rows go into a staging table, and into a GeoParquet file beside it when artifacts are
 * wanted; publication makes table, catalogue row and artifacts appear together or not at all.
 */
export class EmbeddingOutput implements AsyncDisposable {
  /** Rows taken so far. */
  rows: number
  readonly #context: JobContext
  readonly #options: OutputOptions
  readonly #staged: StagedTable
  readonly #artifact: ArtifactFile | null
  readonly #extent: Extent
  #zeroVectors: number
  #pending: PlacedRow[] = []

  private constructor(
    context: JobContext,
    options: OutputOptions,
    parts: { readonly staged: StagedTable; readonly artifact: ArtifactFile | null; readonly state: OutputState | null },
  ) {
    this.#context = context
    this.#options = options
    this.#staged = parts.staged
    this.#artifact = parts.artifact
    this.rows = parts.state?.rows ?? 0
    this.#zeroVectors = parts.state?.zeroVectors ?? 0
    this.#extent = new Extent(parts.state?.bbox)
  }

  static async open(context: JobContext, options: OutputOptions): Promise<EmbeddingOutput> {
    const { tableName, shape, upload, metadata } = options
    const staged = stagedTable(context.run, 0, EMBEDDINGS_SCHEMA, tableName)
    await dropStaging(context.project.database, context.run.jobId, { of: context.run })
    await createEmbeddingTable(context.project.database, staged, shape)
    const artifact = upload ? await openArtifact(context.workdir, shape, metadata) : null
    return new EmbeddingOutput(context, options, { staged, artifact, state: null })
  }

  /**
   * Goes on with the table of an earlier run, whose rows from `firstId` on are taken out. Null when it is not as that run
   * has left it. Not for outputs with artifacts, whose files were the earlier run's.
   */
  static async resume(
    context: JobContext,
    options: OutputOptions,
    { state, firstId }: { readonly state: OutputState; readonly firstId: number },
  ): Promise<EmbeddingOutput | null> {
    const staged = stagedTable(context.run, 0, EMBEDDINGS_SCHEMA, options.tableName)
    const left = await trimEmbeddings(context.project.database, staged, firstId)
    return left === state.rows ? new EmbeddingOutput(context, options, { staged, artifact: null, state }) : null
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
    await this.#artifact?.append(chunk)
  }

  /** Indexes the table, uploads the artifacts and swaps the table in. */
  async publish({ result, entry, item }: Publication, watch: Stopwatch): Promise<EmbeddingsResult> {
    const { tableName, shape, metadata } = this.#options
    const { run, signal, project } = this.#context
    const { database } = project
    const { bbox } = this.#extent
    await this.flush()
    acceptWarnings(this.#options.strict, result.warnings ?? [])
    this.#step('index', 'building the indexes')
    const indexing = finishEmbeddingTable(database, this.#staged, shape, this.rows)
    const approximateIndex = await watch.time('index', indexing)
    const described = { ...item, bbox, created: new Date().toISOString() }
    const artifacts = await this.#upload(described, watch)
    try {
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
          approximateIndex,
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
    if (!this.#artifact) return null
    const { run, signal, project } = this.#context
    this.#step('upload', 'uploading the artifacts')
    await this.#artifact.finish()
    const names = { tableName: this.#options.tableName, run }
    return watch.time('upload', uploadArtifacts(project.store, names, this.#artifact.path, item, signal))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#artifact?.[Symbol.asyncDispose]()
  }

  #step(phase: string, message: string): void {
    this.#context.signal.throwIfAborted()
    this.#context.progress({ phase, message, done: 0, total: null, unit: '' })
  }
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value
}
