import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ExportTable } from '@terrane/contracts'
import { checkKey } from '@terrane/storage'
import { findExportSource } from './export/source.ts'
import { CONTENT_TYPES, writeFile } from './export/write-file.ts'
import type { Engine } from './ogr/engine.ts'
import { requireReadable } from './open-schemas.ts'
import { publishObject } from './publish-object.ts'
import { requireBucket } from './stored-object.ts'
import type { JobContext, Task } from './task.ts'
import { Warnings, acceptWarnings } from './warnings.ts'

export interface ExportOptions {
  readonly engine: Engine
  /** Schemas besides `public` and `geoembeddings` whose tables may be read. */
  readonly openSchemas?: readonly string[]
}

/** Makes the task that writes a table or view as a file into the storage of its project. */
export function exportTable(options: ExportOptions): Task {
  return {
    name: 'exportTable',
    summary: 'Export a table as a file',
    description:
      'Writes a table or view into the storage of the project as GeoParquet 1.1, GeoPackage, FlatGeobuf, GeoJSON, a ' +
      'sequence of it, CSV with WKT, or a zipped Shapefile; an object that is there is replaced. Rows are of one moment. ' +
      'What the format cannot hold is counted in warnings.',
    body: ExportTable,
    expireSeconds: 6 * 3600,
    version: 1,
    async checkSubmit(raw, { project }) {
      const { schema = 'public', table, columns, storagePath } = raw as ExportTable
      requireReadable(schema, options.openSchemas ?? [])
      checkKey(storagePath.path)
      await requireBucket(project.store, storagePath.bucket)
      await findExportSource(project.database, schema, table, columns ?? null)
    },
    run: (raw, context) => runExport(raw as ExportTable, context, options),
  }
}

async function runExport(input: ExportTable, context: JobContext, { engine }: ExportOptions) {
  const { database, store } = context.project
  const { schema = 'public', table, format, columns, storagePath } = input
  await requireBucket(store, storagePath.bucket)
  const source = await findExportSource(database, schema, table, columns ?? null)
  const warnings = new Warnings()
  const path = await writeFile(source, format, {
    database,
    engine,
    warnings,
    workdir: context.workdir,
    signal: context.signal,
    onRows: (done) => context.progress({ phase: 'export', done, total: Math.max(source.rows, done), unit: 'features' }),
  })
  const accepted = acceptWarnings(input.strict, warnings.list())
  const { size } = await stat(path)
  const content = { body: createReadStream(path), contentType: CONTENT_TYPES[format] }
  const { bucket, path: key } = storagePath
  const about = { ...storagePath, format, rows: source.rows, bytes: size, etag: null, warnings: accepted }
  return await publishObject(context, { bucket, key }, content, about)
}
