import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { TerraneError } from '@terrane/core'
import { downloadToFile } from '@terrane/service'
import { objectNotFound } from '@terrane/storage'
import { redactUrl } from '../../projects/redact.ts'
import { findUnderRoots } from '../data-roots.ts'
import { identityOf } from '../identity.ts'
import { requireBucket } from '../stored-object.ts'
import type { JobContext, SubmitContext } from '../task.ts'
import { sourceNotFound, sourceTooLarge } from './errors.ts'

/** The setting that limits the size of a raster file. */
export const MAX_BYTES_SETTING = 'GEOEMBEDDINGS_MAX_GEOTIFF_BYTES'

export interface SourceOptions {
  readonly dataRoots: readonly string[]
  /** 0 for no limit. */
  readonly maxBytes: number
}

/** Where a raster comes from. */
export type RasterSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'storage'; readonly bucket: string; readonly path: string }

/** The one source that a request names; null when it names none or two. */
export function sourceOf(
  geotiffPath: string | undefined,
  storagePath: { readonly bucket: string; readonly path: string } | undefined,
): RasterSource | null {
  if ((geotiffPath === undefined) === (storagePath === undefined)) return null
  if (storagePath !== undefined) return { kind: 'storage', ...storagePath }
  const text = geotiffPath as string
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? { kind: 'url', url: text } : { kind: 'path', path: text }
}

/**
 * What tells a source from the others of its table: its address without credentials; a path as it stands below its root.
 */
export function nameOf(source: RasterSource, dataRoots: readonly string[]): string {
  if (source.kind !== 'path') return describeSource(source)
  const root = dataRoots.map((path) => resolve(path) + sep).find((path) => source.path.startsWith(path))
  return root === undefined ? source.path : source.path.slice(root.length)
}

/** What a record may say of the source. */
export function describeSource(source: RasterSource): string {
  if (source.kind === 'storage') return `${source.bucket}/${source.path}`
  return source.kind === 'url' ? redactUrl(source.url) : basename(source.path)
}

/** The last part of the source's name, which may tell what product it is. */
export function fileNameOf(source: RasterSource): string {
  return basename(source.kind === 'url' ? (URL.parse(source.url)?.pathname ?? '') : source.path)
}

/**
 * What can be refused before a job is queued. Returns the path of a file that can be looked at right now.
 *
 * @param at where the source stands in the request
 * @throws URL_REFUSED, SOURCE_NOT_FOUND, BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, size_guard_exceeded
 */
export async function checkSource(
  source: RasterSource,
  { project, checkUrl }: SubmitContext,
  { dataRoots, maxBytes }: SourceOptions,
  at = '/geotiffPath',
): Promise<string | null> {
  if (source.kind === 'url') {
    checkUrl(source.url, at)
    return null
  }
  if (source.kind === 'path') {
    const path = await resolveLocal(source.path, dataRoots, at)
    guardBytes((await stat(path)).size, maxBytes)
    return path
  }
  const { bucket, path: key } = source
  await requireBucket(project.store, bucket)
  const info = await project.store.head(bucket, key)
  if (!info) throw objectNotFound({ bucket, key })
  guardBytes(info.size, maxBytes)
  return null
}

/**
 * The file that a path names under the data roots, symbolic links resolved: a path that leads out of them, and one that
 * is not there, look the same.
 */
async function resolveLocal(geotiffPath: string, dataRoots: readonly string[], at = '/geotiffPath'): Promise<string> {
  const path = await findUnderRoots(dataRoots, geotiffPath)
  if (path !== null) return path
  throw sourceNotFound({ path: basename(geotiffPath), at })
}

/** A raster as a file. */
export interface SourceFile {
  readonly path: string
  /** Changes with the content. */
  readonly version: string
}

/** The version of a source, where that can be told without reading it; null where it cannot, and of one that is gone. */
export async function versionOf(
  source: RasterSource,
  { project }: Pick<JobContext, 'project'>,
  { dataRoots }: SourceOptions,
): Promise<string | null> {
  if (source.kind === 'url') return null
  if (source.kind === 'storage') {
    const info = await project.store.head(source.bucket, source.path)
    return info && `etag ${info.etag}`
  }
  const path = await findUnderRoots(dataRoots, source.path)
  return path === null ? null : versionOfFile(path)
}

async function versionOfFile(path: string): Promise<string> {
  const { size, mtimeMs } = await stat(path)
  return `file ${size} ${mtimeMs}`
}

/**
 * The raster as a file: brought into the job's folder, or where it lies.
 *
 * @throws size_guard_exceeded at the first byte over the limit, SOURCE_NOT_FOUND, and what the guarded fetch and the
 * storage throw
 */
export async function openSource(
  source: RasterSource,
  context: JobContext,
  options: SourceOptions,
): Promise<SourceFile> {
  if (source.kind === 'path') {
    const path = await resolveLocal(source.path, options.dataRoots)
    return { path, version: await versionOfFile(path) }
  }
  const path = join(context.workdir, 'source.tif')
  if (source.kind === 'storage') return { path, version: await copyObject(source, path, context, options.maxBytes) }
  await download(source.url, path, context, options.maxBytes)
  return { path, version: `sha256 ${await identityOf([path])()}` }
}

async function copyObject(
  { bucket, path: key }: { readonly bucket: string; readonly path: string },
  path: string,
  { project, signal }: JobContext,
  maxBytes: number,
): Promise<string> {
  const { info, body } = await project.store.get(bucket, key, { signal })
  guardBytes(info.size, maxBytes)
  await pipeline(body, createWriteStream(path, { flags: 'wx' }), { signal })
  return `etag ${info.etag}`
}

function guardBytes(bytes: number, maxBytes: number): void {
  if (maxBytes > 0 && bytes > maxBytes) throw sourceTooLarge({ limit: maxBytes, why: `it has ${bytes} bytes` })
}

async function download(url: string, path: string, context: JobContext, maxBytes: number): Promise<void> {
  try {
    await downloadToFile(context.fetch, url, path, {
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
