import { qualified, quoteLiteral, type Session } from '@terrane/database'
import { bulkLoad } from '@terrane/database/bulk-load'
import type { VectorTable } from '@terrane/database/classifiers'
import { vectorPages, type VectorPage } from '@terrane/database/vector-pages'
import {
  createImportTables,
  finishImportTable,
  measureImport,
  registerImport,
  type ImportShape,
} from '@terrane/database/imports'
import {
  STAGING_SCHEMA,
  lockNames,
  relationExists,
  stagedTable,
  swapIn,
  type StagedTable,
} from '@terrane/database/staging'
import { classify, type Head } from '@terrane/embeddings/heads'
import { SCHEMA } from '../import-names.ts'
import type { JobContext } from '../task.ts'
import { giveReaders } from './class-readers.ts'
import { checkMarked, commentOf, notWhatItWas, type ClassSource } from './class-record.ts'
import { pauseOf, type Readers } from './run-input.ts'

/** Bytes of vectors in memory; one more page is read ahead. */
const PAGE_BYTES = 4 * 2 ** 20

const SHAPE: ImportShape = {
  columns: [
    { name: 'id', type: 'int8' },
    { name: 'class', type: 'text' },
    { name: 'probability', type: 'float4' },
    { name: 'geom', type: 'geometry' },
  ],
  geometryType: 'MultiPolygon',
  primaryKey: 'id',
}

/** Counts of the rows that a job wrote. */
export interface ClassCounts {
  readonly classified: number
  readonly zeros: number
  readonly byClass: readonly { readonly rows: number; readonly probability: number | null }[]
}

/** A table of classes in the making: rows go into a staging table. */
export class ClassTable {
  readonly #context: JobContext
  readonly #staged: StagedTable

  private constructor(context: JobContext, staged: StagedTable) {
    this.#context = context
    this.#staged = staged
  }

  static async open(context: JobContext, tableName: string, isReplacing: boolean): Promise<ClassTable> {
    const staged = { ...stagedTable(context.run, 0, SCHEMA, tableName), replaces: isReplacing }
    await createImportTables(context.project.database, [{ staged, shape: SHAPE }])
    return new ClassTable(context, staged)
  }

  /** Classifies rows of an embeddings table into the staging table. */
  async fill(table: VectorTable, head: Head, names: readonly string[], where: string): Promise<ClassCounts> {
    const { project, signal } = this.#context
    const pages = vectorPages(project.database, table, { where, withPlaces: true, pageBytes: PAGE_BYTES })
    const byClass = names.map(() => ({ rows: 0, sum: 0 }))
    let [classified, zeros] = [0, 0]
    for await (const page of ahead(pages)) {
      const options = { pause: pauseOf(signal), isDirection: table.metric !== 'l2' }
      const { classes, probabilities, zeros: zero } = await classify(head, page.vectors, options)
      zeros += zero.size
      page.ids.forEach((_, i) => {
        if (zero.has(i)) return
        const counted = byClass[classes[i]!]!
        counted.rows++
        counted.sum += probabilities[i]!
      })
      const rows = page.ids.map((id, i) => [
        id,
        zero.has(i) ? null : names[classes[i]!]!,
        zero.has(i) || head.kind === 'centroids' ? null : probabilities[i]!,
        placeAt(page, i),
      ])
      const target = { schema: STAGING_SCHEMA, table: this.#staged.staging, columns: SHAPE.columns }
      await bulkLoad(project.database, target, [rows], { signal })
      classified += rows.length
      this.#context.progress({ phase: 'classify', message: 'classifying rows', done: classified, total: Math.max(table.rows, classified), unit: 'rows' }) // prettier-ignore
    }
    const means = byClass.map(({ rows, sum }) => ({
      rows,
      probability: rows === 0 || head.kind === 'centroids' ? null : sum / rows,
    }))
    return { classified, zeros, byClass: means }
  }

  /** Swaps the table in. It inherits the readers of a replaced table, unless the request names others. */
  async publish<Result extends { readonly version: number }>(
    about: TableDescription,
    describe: (measured: Measured) => Result,
    register: (session: Session) => Promise<Partial<Result>>,
  ): Promise<Result> {
    const { run, project, signal } = this.#context
    const { database } = project
    this.#context.progress({ phase: 'index', message: 'building the indexes', done: 0, total: null, unit: '' })
    const measured = await measureImport(database, this.#staged)
    await finishImportTable(database, this.#staged, SHAPE, '')
    const isThere = await relationExists(database, SCHEMA, this.#staged.table, { isTable: true })
    if (!isThere) await giveReaders(database, qualified(STAGING_SCHEMA, this.#staged.staging), about.readers)
    const result = describe({ ...measured, removed: 0 })
    signal.throwIfAborted()
    await swapIn(database.withSignal(new AbortController().signal), run, [this.#staged], result, async (session) => {
      Object.assign(result, await register(session))
      await this.#record(session, { ...about, source: { ...about.source, version: result.version } }, measured)
    })
    return result
  }

  /** Replaces the rows of sources that have changed or are gone. @throws NOT_A_CLASS_TABLE */
  async merge<Result extends object>(
    about: TableDescription,
    change: ClassChange,
    describe: (measured: Measured) => Result,
  ): Promise<Result> {
    const { run, project } = this.#context
    const { table, staging } = this.#staged
    const target = qualified(SCHEMA, table)
    const source = qualified(STAGING_SCHEMA, staging)
    const result = {} as Result
    const swap = swapIn(project.database, run, [], result, async (session) => {
      // Locks the name and the table before its record, in the order of all code that drops or replaces a table.
      if (project.database.capabilities.locks) await lockNames(session, [this.#staged])
      await session.query(`lock table ${target} in share row exclusive mode`)
      await checkMarked(session, table, change.jobId)
      const { rowCount } = await session.query(
        `delete from ${target} where $1::bigint[] is null or id >> 32 = any($1)`,
        [change.sources],
      )
      await session.query(
        `insert into ${target} (id, class, probability, geom) select id, class, probability, geom from ${source} on conflict (id) do nothing`,
      )
      await session.query(`drop table ${source}`)
      const { rows } = await session.query<{ rows: number; box: (number | null)[] }>(
        `select e.rows, array[st_xmin(e.b), st_ymin(e.b), st_xmax(e.b), st_ymax(e.b)] as box
         from (select count(*) as rows, st_extent(geom)::box3d as b from ${target}) e`,
      )
      const bbox = rows[0]!.box[0] === null ? null : (rows[0]!.box as unknown as Measured['bbox'])
      const measured = { rows: rows[0]!.rows, bbox, removed: rowCount ?? 0 }
      Object.assign(result, describe(measured))
      await this.#record(session, about, measured)
    })
    await swap.catch((cause: unknown) => {
      throw notWhatItWas(table, cause) ?? cause
    })
    return result
  }

  /** Records how the table was made, marks it, and gives it the readers that the request names. */
  async #record(session: Session, about: TableDescription, { rows, bbox }: Omit<Measured, 'removed'>): Promise<void> {
    const { task, source, attribution, licence, readers, namesReaders } = about
    const { jobId } = this.#context.run
    const target = qualified(SCHEMA, this.#staged.table)
    await session.query(`comment on table ${target} is ${quoteLiteral(commentOf(source, jobId))}`)
    if (namesReaders) await giveReaders(session, target, readers)
    await registerImport(session, this.#staged, { jobId, task, source, attribution, licence, rows, bbox })
  }
}

export interface Measured {
  readonly rows: number
  readonly bbox: readonly [number, number, number, number] | null
  /** Number of removed rows. */
  readonly removed: number
}

export interface TableDescription {
  readonly task: 'classifyEmbeddings' | 'clusterEmbeddings'
  readonly source: ClassSource
  readonly attribution: string
  readonly licence: string
  readonly readers: Readers
  /** Whether the request names the readers; then an existing table gets them, too. */
  readonly namesReaders: boolean
}

/** Sources whose rows are classified again; null for all. */
export interface ClassChange {
  readonly jobId: string
  readonly sources: readonly number[] | null
}

function placeAt({ places: { bytes, ends } }: VectorPage, i: number): Uint8Array {
  return bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i])
}

/** The pages; each is read while the previous one is processed. */
async function* ahead(pages: AsyncGenerator<VectorPage>): AsyncGenerator<VectorPage> {
  let next = pages.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done === true) return
      next = pages.next()
      next.catch(() => {})
      yield value
    }
  } finally {
    await next.catch(() => {})
    await pages.return(undefined)
  }
}
