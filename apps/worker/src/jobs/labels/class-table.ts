import { qualified, quoteIdentifier, quoteLiteral, type Database, type Session } from '@terrane/database'
import { bulkLoad } from '@terrane/database/bulk-load'
import { vectorPages, type VectorPage, type VectorTable } from '@terrane/database/classifiers'
import {
  createImportTables,
  finishImportTable,
  measureImport,
  registerImport,
  type ImportShape,
} from '@terrane/database/imports'
import {
  STAGING_SCHEMA,
  relationExists,
  stagedTable,
  swapIn,
  tableExists,
  type StagedTable,
} from '@terrane/database/staging'
import { classify, type Head } from '@terrane/embeddings/heads'
import { SCHEMA } from '../import-names.ts'
import type { JobContext } from '../task.ts'
import { notClassTable } from './errors.ts'
import { pauseOf, prepare } from './run-input.ts'

/** Vectors in memory at once; a page more is read ahead. */
const PAGE_BYTES = 16 * 2 ** 20

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

/** What the record of a table of classes says of how it was made. */
export interface ClassSource {
  readonly embeddings: string
  readonly classifier: string
  readonly version: number
  /** Which rows count. */
  readonly chosen: Readonly<Record<string, unknown>>
  /** When rows of each source of the embeddings table were last written. */
  readonly sources: Readonly<Record<string, string>>
}

/** What a job wrote. */
export interface ClassCounts {
  readonly classified: number
  readonly zeros: number
  readonly byClass: readonly { readonly rows: number; readonly probability: number | null }[]
}

/** A table of classes on its way: rows go into a staging table. */
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
      const zero = prepare(page.vectors, table)
      const { classes, probabilities } = await classify(head, page.vectors, pauseOf(signal))
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

  /** Makes the table appear, with its readers; one that it takes the place of keeps its own. */
  async publish<Result extends object>(
    about: TableDescription,
    describe: (measured: Measured) => Result,
    register: (session: Session) => Promise<Partial<Result>>,
  ): Promise<Result> {
    const { run, project, signal } = this.#context
    const { database } = project
    this.#context.progress({ phase: 'index', message: 'building the indexes', done: 0, total: null, unit: '' })
    const measured = await measureImport(database, this.#staged)
    await finishImportTable(database, this.#staged, SHAPE, about.comment)
    const isThere = await relationExists(database, SCHEMA, this.#staged.table, { isTable: true })
    if (!isThere) await giveReaders(database, this.#staged, about)
    const result = describe({ ...measured, removed: 0 })
    signal.throwIfAborted()
    await swapIn(database.withSignal(new AbortController().signal), run, [this.#staged], result, async (session) => {
      Object.assign(result, await register(session))
      await registerImport(session, this.#staged, { ...recordOf(about, run.jobId), ...measured })
    })
    return result
  }

  /** Puts the rows in the place of those of sources that have changed or are gone. */
  async merge<Result extends object>(
    about: TableDescription,
    change: ClassChange,
    describe: (measured: Measured) => Result,
  ): Promise<Result> {
    const { run, project, signal } = this.#context
    const target = qualified(SCHEMA, this.#staged.table)
    const source = qualified(STAGING_SCHEMA, this.#staged.staging)
    const result = {} as Result
    signal.throwIfAborted()
    await swapIn(project.database.withSignal(new AbortController().signal), run, [], result, async (session) => {
      const now = await readRecord(session, this.#staged.table, 'for update')
      if (now?.jobId !== change.jobId)
        throw notClassTable({ table: this.#staged.table, why: 'it was made anew meanwhile' })
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
      await registerImport(session, this.#staged, { ...recordOf(about, run.jobId), ...measured })
    })
    return result
  }
}

export interface Measured {
  readonly rows: number
  readonly bbox: readonly [number, number, number, number] | null
  /** Rows that were taken out. */
  readonly removed: number
}

export interface TableDescription {
  readonly task: 'classifyEmbeddings' | 'clusterEmbeddings'
  readonly comment: string
  readonly source: ClassSource
  readonly attribution: string
  readonly licence: string
  readonly owner: string | null
  readonly isPublic: boolean
}

/** Sources whose rows are written anew; null for all. */
export interface ClassChange {
  readonly jobId: string
  readonly sources: readonly number[] | null
}

/** The record of a table of classes; null for other tables. */
export async function readRecord(
  session: Pick<Session, 'query'>,
  tableName: string,
  lock: '' | 'for update' = '',
): Promise<{ readonly jobId: string; readonly source: ClassSource } | null> {
  const { rows } = await session.query<{ jobId: string; source: ClassSource; task: string }>(
    `select job_id as "jobId", source, task from terrane.imports where table_schema = $1 and table_name = $2 ${lock}`,
    [SCHEMA, tableName],
  )
  const [found] = rows
  return found?.task === 'classifyEmbeddings' ? found : null
}

/** @throws TABLE_EXISTS, NOT_A_CLASS_TABLE */
export async function checkOutput(
  database: Database,
  { tableName, mode = 'create' }: { readonly tableName: string; readonly mode?: 'create' | 'replace' | 'update' },
): Promise<void> {
  if (mode === 'update') {
    const isThere = await relationExists(database, SCHEMA, tableName, { isTable: true })
    if (isThere && (await readRecord(database, tableName)) !== null) return
    throw notClassTable({ table: tableName, why: isThere ? 'classifyEmbeddings has not made it' : 'it is not there' })
  }
  const only = mode === 'create' ? {} : { isTable: false }
  if (await relationExists(database, SCHEMA, tableName, only)) throw tableExists({ schema: SCHEMA, table: tableName })
}

function recordOf({ task, source, attribution, licence }: TableDescription, jobId: string) {
  return { jobId, task, source, attribution, licence }
}

/** Grants and policies, as share_table gives them; an owner reads by a policy of its own. */
async function giveReaders(
  database: Database,
  { staging }: StagedTable,
  { owner, isPublic }: TableDescription,
): Promise<void> {
  const table = qualified(STAGING_SCHEMA, staging)
  const statements = [`alter table ${table} enable row level security`]
  for (const role of isPublic ? ['anon', 'authenticated'] : []) {
    const policy = quoteIdentifier(`shared with ${role}`)
    statements.push(`create policy ${policy} on ${table} for select to ${role} using (true)`, `grant select on ${table} to ${role}`) // prettier-ignore
  }
  if (owner !== null) {
    const isOwner = `geoembeddings.caller_id() = ${quoteLiteral(owner)}::uuid`
    statements.push(`create policy own on ${table} for select to authenticated using (${isOwner})`, `grant select on ${table} to authenticated`) // prettier-ignore
  }
  await database.query(statements.join(';\n'))
}

function placeAt({ places: { bytes, ends } }: VectorPage, i: number): Uint8Array {
  return bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i])
}

/** The pages; each is read while the one before is worked on. */
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
