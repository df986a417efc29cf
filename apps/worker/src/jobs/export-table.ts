import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ExportTable } from '@terrane/contracts'
import { swapIn } from '@terrane/database'
import { bucketNotFound, checkKey, upload, type ArtifactStore } from '@terrane/storage'
import { findExportSource } from './export/source.ts'
import { CONTENT_TYPES, writeFile } from './export/write-file.ts'
import type { Engine } from './ogr/engine.ts'
import { requireReadable } from './open-schemas.ts'
import type { JobContext, Task } from './task.ts'
import { uploadNames } from './upload-names.ts'
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
  const uploaded = await upload(store, { bucket: storagePath.bucket, key: storagePath.path }, createReadStream(path), {
    contentType: CONTENT_TYPES[format],
    upsert: true,
    signal: context.signal,
    ...uploadNames(context.run),
  })
  const result = {
    ...storagePath,
    format,
    rows: source.rows,
    bytes: size,
    etag: null as string | null,
    warnings: accepted,
  }
  context.signal.throwIfAborted()
  try {
    // From the moment the file is in its place a cancellation comes too late.
    await swapIn(database.withSignal(new AbortController().signal), context.run, [], result, async () => {
      result.etag = (await uploaded.place()).etag
    })
  } catch (error) {
    await uploaded.discard()
    throw error
  }
  return result
}

/** @throws BUCKET_NOT_FOUND */
async function requireBucket(store: ArtifactStore, bucket: string): Promise<void> {
  if (!(await store.getBucket(bucket))) throw bucketNotFound({ bucket })
}
