import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ImportEmbeddings } from '@terrane/contracts'
import { checkEmbeddingTable } from '../embeddings/embedding-output.ts'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import { writeSource } from '../file-import/file-source.ts'
import { requireReadable } from '../open-schemas.ts'
import { checkStoredObject } from '../stored-object.ts'
import type { JobContext, Task } from '../task.ts'
import { fileRequired } from './errors.ts'
import { importParquet } from './import-parquet.ts'
import { checkPool, importRaster, type RasterImportDeps } from './import-raster.ts'
import { checkStoredZarr, openZarrSource, zarrAddress } from './zarr-source.ts'

/** Limits and settings of importEmbeddings. */
export interface ImportEmbeddingsDeps extends RasterImportDeps {
  /** Maximum size of a file; 0 for no limit. */
  readonly maxBytes: number
}

/** Ready-made embeddings become rows of vectors in `geoembeddings.{tableName}`. */
export function importEmbeddings(deps: ImportEmbeddingsDeps): Task {
  return {
    name: 'importEmbeddings',
    summary: 'Ready-made embeddings into a table',
    description:
      'Reads the vectors of a GeoParquet file, such as those of Clay, Major TOM, Earth Index or an exported table, as they are, or pools a ' +
      'GeoTIFF or Zarr store whose bands are vectors, such as those of AlphaEarth and TESSERA, per tile, H3 cell or area of a table. Writes ' +
      'geoembeddings.{tableName}, to be searched with similarity_search.',
    body: ImportEmbeddings,
    expireSeconds: 12 * 3600,
    version: 1,
    checkSubmit: async (raw, { project, checkUrl }) => {
      const body = raw as ImportEmbeddings
      const { storagePath, url, tableName, pool } = body
      if ((storagePath === undefined) === (url === undefined)) throw fileRequired()
      checkPool(body)
      if (pool?.table !== undefined) requireReadable(pool.schema ?? 'public', deps.openSchemas)
      if (url !== undefined) checkUrl(url, '/url')
      const zarr = zarrAddress(body)
      if (storagePath && zarr) await checkStoredZarr(project.store, storagePath.bucket, zarr)
      else if (storagePath) await checkStoredObject(project.store, storagePath, deps.maxBytes || Infinity)
      await checkEmbeddingTable(project, tableName)
    },
    run: async (raw, context) => {
      const body = raw as ImportEmbeddings
      const watch = new Stopwatch()
      const path = join(context.workdir, 'vectors')
      const work = { deps, watch }
      const address = zarrAddress(body)
      if (address !== null) {
        const limits = { folder: path, maxBytes: deps.maxBytes || Infinity }
        const source = await watch.time('download', openZarrSource(body, address, context, limits))
        return await importRaster(body, { path, zarr: source }, context, work)
      }
      await watch.time('download', download(body, path, context, deps))
      return (await isTiff(path))
        ? await importRaster(body, { path, zarr: null }, context, work)
        : await importParquet(body, path, context, work)
    },
  }
}

async function download(
  { url, storagePath }: ImportEmbeddings,
  path: string,
  context: JobContext,
  { maxBytes }: ImportEmbeddingsDeps,
): Promise<void> {
  const source = { ...(url !== undefined && { url }), ...(storagePath && { storagePath }) }
  const onBytes = (done: number, total: number | null) =>
    context.progress({ phase: 'download', message: 'downloading the file', done, total, unit: 'bytes' })
  const { fetch, project, signal } = context
  await writeSource(source, maxBytes || Infinity, { fetch, store: project.store, signal, onBytes }, path)
}

async function isTiff(path: string): Promise<boolean> {
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
  const text = buffer.toString('latin1')
  return /^(?:II[*+]\0|MM\0[*+])/.test(text)
}
