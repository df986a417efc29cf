import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { CreateGeoEmbeddings, JobWarning } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import { downloadToFile } from '@terrane/service'
import { objectNotFound } from '@terrane/storage'
import { knownMask } from '@terrane/tiling/scene'
import { redactUrl } from '../../projects/redact.ts'
import { findUnderRoots } from '../data-roots.ts'
import { identityOf } from '../identity.ts'
import { requireBucket } from '../stored-object.ts'
import type { JobContext, SubmitContext } from '../task.ts'
import { badSource, maskUnknown, resamplingAlone, sourceNotFound, sourceTooLarge } from './errors.ts'

/** The setting that limits the size of a raster file. */
export const MAX_BYTES_SETTING = 'GEOEMBEDDINGS_MAX_GEOTIFF_BYTES'

export interface SourceOptions {
  readonly dataRoots: readonly string[]
  /** 0 for no limit. */
  readonly maxBytes: number
}

/** Where a file comes from. */
export type FileSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'storage'; readonly bucket: string; readonly path: string }

/** An asset as a request names it. */
export type SceneAsset = Extract<NonNullable<CreateGeoEmbeddings['assets']>, readonly unknown[]>[number]

/** A file of a scene. */
export interface SceneFile {
  readonly source: FileSource
  /** 1-based; null for all bands. */
  readonly band: number | null
  /** Where it stands in the request. */
  readonly at: string
}

/** A band of a scene, or all bands of a file. */
export interface SceneAssetFile extends SceneFile {
  readonly name: string | null
  readonly scale: number | null
  readonly offset: number | null
  readonly nodata: number | null
}

/** A raster of many files. */
export interface SceneSource {
  readonly kind: 'scene'
  readonly assets: readonly [SceneAssetFile, ...SceneAssetFile[]]
  readonly mask: (SceneFile & { readonly values: readonly number[]; readonly bits: readonly number[] }) | null
  readonly resampling: 'bilinear' | 'nearest'
}

/** Where a raster comes from. */
export type RasterSource = FileSource | SceneSource

/** The file that a part of a request names; null when it names none or two. */
export function fileOf({
  geotiffPath,
  storagePath,
}: Pick<CreateGeoEmbeddings, 'geotiffPath' | 'storagePath'>): FileSource | null {
  if ((geotiffPath === undefined) === (storagePath === undefined)) return null
  if (storagePath !== undefined) return { kind: 'storage', ...storagePath }
  const text = geotiffPath as string
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? { kind: 'url', url: text } : { kind: 'path', path: text }
}

/**
 * The one source that a request names; null when it names none or two.
 *
 * @throws SOURCE_MISSING for an asset that names none or two files, SCENE_UNUSABLE for a mask that leaves nothing out
 */
export function sourceOf(body: Partial<CreateGeoEmbeddings>, at = ''): RasterSource | null {
  const { assets, mask, resampling = 'bilinear' } = body
  if (assets === undefined) return mask === undefined ? fileOf(body) : null
  if (body.geotiffPath !== undefined || body.storagePath !== undefined) return null
  const listed = Array.isArray(assets)
    ? assets
    : Object.entries(assets)
        .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
        .map(([name, geotiffPath]): SceneAsset => ({ name, geotiffPath }))
  const files = listed.map((asset, i) => {
    const { name = null, scale = null, offset = null, nodata = null } = asset
    return {
      ...sceneFile(asset, `${at}/assets/${Array.isArray(assets) ? i : asset.name!}`),
      name,
      scale,
      offset,
      nodata,
    }
  })
  return {
    kind: 'scene',
    assets: files as [SceneAssetFile, ...SceneAssetFile[]],
    mask: mask ? sceneMask(mask, `${at}/mask`) : null,
    resampling,
  }
}

/** Classes and flags of a mask; those of a known product where the request names none. */
function sceneMask(mask: NonNullable<CreateGeoEmbeddings['mask']>, at: string): NonNullable<SceneSource['mask']> {
  const { maskValues: values = [], maskBits: bits = [] } = mask
  const file = sceneFile(mask, at)
  if (values.length + bits.length > 0) return { ...file, values, bits }
  const name = fileNameOf(file.source)
  const known = knownMask(name)
  if (known === null) throw maskUnknown({ name, at })
  return { ...file, values: known.values, bits: known.bits }
}

/** @throws SOURCE_MISSING where no raster of the request has assets. The default is no choice. */
export function checkResampling({ resampling, assets, sources = [], stac }: CreateGeoEmbeddings): void {
  const isMeant = (assets ?? stac) !== undefined || sources.some((source) => source.assets !== undefined)
  if (!isMeant && resampling !== undefined && resampling !== 'bilinear') throw resamplingAlone()
}

function sceneFile(asset: Pick<SceneAsset, 'geotiffPath' | 'storagePath' | 'band'>, at: string): SceneFile {
  const source = fileOf(asset)
  if (source === null) throw badSource({ at })
  return { source, band: asset.band ?? null, at }
}

/** The files of a source, each once. */
export function filesOf(source: RasterSource): readonly FileSource[] {
  return source.kind === 'scene' ? sceneFiles(source).map((file) => file.source) : [source]
}

/** The files of a scene, each once, with the first place where it is named. */
export function sceneFiles({ assets, mask }: SceneSource): readonly SceneFile[] {
  const all: readonly SceneFile[] = [...assets, ...(mask ? [mask] : [])]
  return all.filter((file, i) => fileNumber(all, file.source) === i)
}

/** The place of a file in a list. */
export function fileNumber(files: readonly Pick<SceneFile, 'source'>[], source: FileSource): number {
  const key = JSON.stringify(source)
  return files.findIndex((file) => JSON.stringify(file.source) === key)
}

/**
 * What tells a source from the others of its table: its address without credentials; a path as it stands below its root.
 */
export function nameOf(source: RasterSource, dataRoots: readonly string[]): string {
  if (source.kind === 'scene') return sceneName(source, (file) => nameOf(file, dataRoots))
  if (source.kind !== 'path') return describeSource(source)
  const root = dataRoots.map((path) => resolve(path) + sep).find((path) => source.path.startsWith(path))
  return root === undefined ? source.path : source.path.slice(root.length)
}

/** What a record may say of the source. */
export function describeSource(source: RasterSource): string {
  if (source.kind === 'scene') return sceneName(source, describeSource)
  if (source.kind === 'storage') return `${source.bucket}/${source.path}`
  return source.kind === 'url' ? redactUrl(source.url) : basename(source.path)
}

function sceneName({ assets }: SceneSource, name: (file: FileSource) => string): string {
  return [name(assets[0].source), ...assets.slice(1).map((asset) => asset.name ?? fileNameOf(asset.source))].join(', ')
}

/** The last part of the source's name, which may tell what product it is. */
export function fileNameOf(source: RasterSource): string {
  if (source.kind === 'scene') return fileNameOf(source.assets[0].source)
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
  /** The files that a VRT names. */
  readonly files?: readonly FileSource[]
  /** What a person should know of how the file was made of others. */
  readonly warnings?: readonly JobWarning[]
}

/** The version of a source, where that can be told without reading it; null where it cannot, and of one that is gone. */
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

/**
 * The version of a scene: changes with its files and how they are read.
 *
 * @param versions of its files, as `sceneFiles` has them
 */
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
 * A file in the job's folder, or where it lies.
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
