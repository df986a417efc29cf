import { basename, join } from 'node:path'
import { TerraneError } from '@terrane/core'
import { downloadToFile, type GuardedFetch } from '@terrane/service'
import { redactUrl } from '../../projects/redact.ts'
import { findUnderRoots } from '../data-roots.ts'
import type { JobContext } from '../task.ts'
import { sourceNotFound, sourceTooLarge } from './errors.ts'

/** The setting that limits the size of a raster file. */
export const MAX_BYTES_SETTING = 'GEOEMBEDDINGS_MAX_GEOTIFF_BYTES'

export interface SourceOptions {
  readonly dataRoots: readonly string[]
  /** 0 for no limit. */
  readonly maxBytes: number
}

/** True for what is to be fetched, as opposed to read from a data root. */
export function isUrl(geotiffPath: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(geotiffPath)
}

/** What a record may say of the source. */
export function describeSource(geotiffPath: string): string {
  return isUrl(geotiffPath) ? redactUrl(geotiffPath) : basename(geotiffPath)
}

/**
 * The file that a path names under the data roots, symbolic links resolved: a path that leads out of them, and one that
 * is not there, look the same.
 *
 * @throws SOURCE_NOT_FOUND
 */
export async function resolveLocal(geotiffPath: string, dataRoots: readonly string[]): Promise<string> {
  const path = await findUnderRoots(dataRoots, geotiffPath)
  if (path !== null) return path
  throw sourceNotFound({ path: basename(geotiffPath) })
}

/**
 * The raster as a file: downloaded into the job's folder, or where it lies.
 *
 * @throws size_guard_exceeded at the first byte over the limit, SOURCE_NOT_FOUND, and what the guarded fetch throws
 */
export async function openSource(geotiffPath: string, context: JobContext, options: SourceOptions): Promise<string> {
  if (!isUrl(geotiffPath)) return resolveLocal(geotiffPath, options.dataRoots)
  const path = join(context.workdir, 'source.tif')
  await download(context.fetch, geotiffPath, path, context, options.maxBytes)
  return path
}

async function download(
  fetch: GuardedFetch,
  url: string,
  path: string,
  context: JobContext,
  maxBytes: number,
): Promise<void> {
  try {
    await downloadToFile(fetch, url, path, {
      signal: context.signal,
      ...(maxBytes > 0 && { maxBytes }),
      onBytes: (done, total) =>
        context.progress({ phase: 'download', message: 'downloading the raster', done, total, unit: 'bytes' }),
    })
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'DOWNLOAD_TOO_LARGE') {
      throw sourceTooLarge({ limit: maxBytes, why: error.message })
    }
    throw error
  }
}
