import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ExportTable, type ExportFormat } from '@terrane/contracts'
import { checkKey } from '@terrane/storage'
import type { Database, Session } from '@terrane/database'
import { EMBEDDINGS_SCHEMA, portableCatalogue } from '@terrane/database/geoembeddings'
import { scan, scanSession } from '@terrane/database/scan'
import {
  CONTENT_TYPES,
  describeQuery,
  findQuery,
  findTable,
  queryRefused,
  queryTimeout,
  readSystems,
  withTypes,
  type ExportSource,
  type ReferenceSystem,
  type Scanner,
} from '@terrane/exports'
import { findClassTable, writeClassRaster } from './export/class-raster.ts'
import { tableOrQuery } from './export/errors.ts'
import { writeFile } from './export/write-file.ts'
import type { Engine } from '@terrane/files'
import { isLastAttempt } from '../queue/job-life.ts'
import { requireReadable } from './open-schemas.ts'
import { publishObject } from './publish-object.ts'
import { requireBucket } from './stored-object.ts'
import type { JobContext, Task } from './task.ts'
import { Warnings } from '@terrane/core/errors'
import { acceptWarnings } from './warnings.ts'

/** Longest time of a query, and of its check before it is queued. */
const QUERY_SECONDS = 600
const CHECK_SECONDS = 10
/** Source: OGC 21-026, Cloud Optimized GeoTIFF. */
const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'

export interface ExportOptions {
  readonly engine: Engine
  /** Schemas besides `public` and `geoembeddings` whose tables may be read. */
  readonly openSchemas?: readonly string[]
}

/** Makes the task that writes a table or view as a file into the storage of its project. */
export function exportTable(options: ExportOptions): Task {
  return {
    name: 'exportTable',
    summary: 'Export a table or query as a file',
    description:
      'Writes a table, a view or the rows of a query into the storage of the project as GeoParquet 1.1, GeoPackage, FlatGeobuf, GeoJSON, a ' +
      'sequence of it, CSV with WKT, or a zipped Shapefile, and replaces an existing object. All rows are from one snapshot of the database. ' +
      'A table of classes becomes a cloud-optimized GeoTIFF (COG), too. Values that the format cannot hold are counted in warnings.',
    body: ExportTable,
    expireSeconds: 6 * 3600,
    version: 1,
    async checkSubmit(raw, { project }) {
      const input = raw as ExportTable
      const { schema = 'public', storagePath } = input
      if ((input.table === undefined) === (input.query === undefined)) throw tableOrQuery()
      requireReadable(schema, options.openSchemas ?? [])
      checkKey(storagePath.path)
      await requireBucket(project.store, storagePath.bucket)
      const { table, query, columns = null } = input
      if (input.format === 'COG') await findClassTable(project.database, input)
      else if (table !== undefined) await findTable(project.database, { schema, table, columns })
      if (query !== undefined)
        await asReader(project.database, CHECK_SECONDS, (session) => describeQuery(session, query, columns))
    },
    run: (raw, context) => runExport(raw as ExportTable, context, options),
  }
}

async function runExport(input: ExportTable, context: JobContext, options: ExportOptions) {
  const { format, storagePath } = input
  await requireBucket(context.project.store, storagePath.bucket)
  const warnings = new Warnings()
  const { path, rows } =
    format === 'COG'
      ? await writeClassRaster(input, context)
      : await writeRows({ ...input, format }, context, { ...options, warnings })
  const accepted = acceptWarnings(input.strict, warnings.list())
  const { size } = await stat(path)
  const contentType = format === 'COG' ? COG_TYPE : CONTENT_TYPES[format]
  const content = { size, body: createReadStream(path), contentType }
  const { bucket, path: key } = storagePath
  const about = { ...storagePath, format, rows, bytes: size, etag: null, warnings: accepted }
  return await publishObject(context, { bucket, key }, content, about)
}

/** A request for a format of rows. */
type RowsRequest = ExportTable & { readonly format: ExportFormat }

async function writeRows(
  input: RowsRequest,
  context: JobContext,
  { engine, warnings }: ExportOptions & { readonly warnings: Warnings },
): Promise<{ readonly path: string; readonly rows: number }> {
  const { format, queryTimeoutSeconds: seconds = QUERY_SECONDS } = input
  const time = { seconds, isWhole: isLastAttempt(context) }
  return await withSource(context.project.database, input, time, async (source, scanner, systems) => {
    const { estimatedRows } = source
    const onRows = (done: number) => {
      const total = estimatedRows === null ? null : Math.max(estimatedRows, done)
      context.progress({ phase: 'export', done, total, unit: 'features' })
    }
    const { workdir, signal } = context
    return await writeFile(source, format, { engine, warnings, workdir, signal, systems, scan: scanner, onRows })
  })
}

/**
 * Looks up the source of an export and works with it: a table on any connection, a query within one read-only
 * transaction under the role whose key submits jobs.
 *
 * @throws TABLE_NOT_FOUND, PROPERTY_NOT_SHOWN, PROPERTY_REPEATED, QUERY_REFUSED
 */
async function withSource<T>(
  database: Database,
  {
    schema = 'public',
    table,
    query,
    format,
    columns = null,
  }: Pick<RowsRequest, 'schema' | 'table' | 'query' | 'format'> & {
    readonly columns?: readonly string[] | null
  },
  { seconds, isWhole }: { readonly seconds: number; readonly isWhole: boolean },
  work: (source: ExportSource, scanner: Scanner, systems: readonly ReferenceSystem[]) => Promise<T>,
): Promise<T> {
  if (query === undefined) {
    const found = await withTypes(database, await findTable(database, { schema, table: table!, columns }), format)
    const catalogue = schema === EMBEDDINGS_SCHEMA ? await portableCatalogue(database, table!) : null
    const source = catalogue ? { ...found, metadata: { emb: JSON.stringify({ catalogue }) } } : found
    const scanner: Scanner = (wanted, from, size) => scan(database, wanted, from, { ...size, isWhole })
    return await work(source, scanner, await readSystems(database, source))
  }
  return await asReader(database, seconds, async (session) => {
    const source = await withTypes(session, await findQuery(session, query, columns), format)
    return await work(source, (...asked) => scanSession(session, ...asked), await readSystems(session, source))
  })
}

/** Works in a read-only transaction as the role whose key submits jobs; errors of the query are the caller's. */
async function asReader<T>(database: Database, seconds: number, work: (session: Session) => Promise<T>): Promise<T> {
  const settings = [
    ['statement_timeout', `${seconds}s`],
    ['role', 'service_role'],
  ].map(([name, value]) => `set_config('${name}', '${value}', true)`)
  const begin = `begin isolation level repeatable read read only; select ${settings.join(', ')}`
  try {
    return await database.transaction(work, begin)
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string }
    if (code === '57014') throw queryTimeout({ seconds }, { cause: error })
    if (typeof code === 'string' && /^(0A|22|25|42)...$/.test(code))
      throw queryRefused({ reason: message }, { cause: error })
    throw error
  }
}
