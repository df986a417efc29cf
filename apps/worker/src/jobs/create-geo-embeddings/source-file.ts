import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { JobWarning } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import { downloadToFile } from '@terrane/service'
import { objectNotFound } from '@terrane/storage'
import { findUnderRoots } from '../data-roots.ts'
import { identityOf } from '../identity.ts'
import { requireBucket } from '../stored-object.ts'
import type { JobContext, SubmitContext } from '../task.ts'
import { sourceNotFound, sourceTooLarge } from './errors.ts'
import type { FileSource } from '@terrane/tiling/scene'
import { fileNumber, filesOf, sceneFiles, type RasterSource, type SceneSource } from './source.ts'

export interface SourceOptions {
  readonly dataRoots: readonly string[]
  /** 0 for no limit. */
  readonly maxBytes: number
}

/**
 * Checks a source before a job is queued. Returns the path of a file that can be read right now.
 *
 * @param at where the source stands in the request
 * @throws URL_REFUSED, SOURCE_NOT_FOUND, BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, size_guard_exceeded
 */
export async function checkSource(
  source: RasterSource,
  { project, checkUrl }: Pick<SubmitContext, 'project' | 'checkUrl'>,
  { dataRoots, maxBytes }: SourceOptions,
  at = '/geotiffPath',
): Promise<string | null> {
  if (source.kind === 'scene') {
    for (const file of sceneFiles(source))
      await checkSource(file.source, { project, checkUrl }, { dataRoots, maxBytes }, file.at)
    return null
  }
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

/** The file of a path under the data roots. A path that leads out of them gives the error of a missing file. */
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
  /** The files that a VRT names. */
  readonly files?: readonly FileSource[]
  /** Warnings about how the file was assembled from others. */
  readonly warnings?: readonly JobWarning[]
}

/** The version of a source, if it is known without reading the content; null otherwise, also if it is missing. */
export async function versionOf(
  source: RasterSource,
  { project }: Pick<JobContext, 'project'>,
  { dataRoots, maxBytes }: SourceOptions,
): Promise<string | null> {
  if (source.kind === 'scene') {
    const versions = await Promise.all(
      filesOf(source).map((file) => versionOf(file, { project }, { dataRoots, maxBytes })),
    )
    return versions.every((version) => version !== null) ? sceneVersion(source, versions) : null
  }
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

/** The version of a scene: changes with its files and how they are read. @param versions of its files */
export function sceneVersion(scene: SceneSource, versions: readonly string[]): string {
  const { assets, mask, resampling } = scene
  const files = sceneFiles(scene)
  const bands = assets.map(({ source, band, name, scale, offset, nodata }) => {
    return [fileNumber(files, source), band, name, scale, offset, nodata]
  })
  const left = mask && [fileNumber(files, mask.source), mask.band, mask.values, mask.bits]
  return JSON.stringify([versions, bands, left, resampling])
}

/**
 * A file at its own path, or copied into the job's folder.
 *
 * @param name of the copy
 * @throws size_guard_exceeded at the first byte over the limit, SOURCE_NOT_FOUND, and what the guarded fetch and the
 * storage throw
 */
export async function openFile(
  { source, at, name }: { readonly source: FileSource; readonly at: string; readonly name: string },
  context: JobContext,
  options: SourceOptions,
): Promise<SourceFile> {
  if (source.kind === 'path') {
    const path = await resolveLocal(source.path, options.dataRoots, at)
    guardBytes((await stat(path)).size, options.maxBytes)
    return { path, version: await versionOfFile(path) }
  }
  const path = join(context.workdir, name)
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
