import { basename, resolve, sep } from 'node:path'
import type { CreateGeoEmbeddings } from '@terrane/contracts'
import { knownMask, type FileSource } from '@terrane/tiling/scene'
import { redactUrl } from '../../projects/redact.ts'
import { badSource, maskUnknown, resamplingAlone } from './errors.ts'

/** The setting that limits the size of a raster file. */
export const MAX_BYTES_SETTING = 'GEOEMBEDDINGS_MAX_GEOTIFF_BYTES'

/** An asset as a request names it. */
export type SceneAsset = Extract<NonNullable<CreateGeoEmbeddings['assets']>, readonly unknown[]>[number]

/** A file of a scene. */
export interface SceneFile {
  readonly source: FileSource
  /** 1-based; null for all bands. */
  readonly band: number | null
  /** JSON pointer to it in the request. */
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

/** Source of a raster. */
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
 * @throws SOURCE_MISSING for an asset that names none or two files, SCENE_UNUSABLE for a mask without classes and flags
 * whose product is unknown
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

/** @throws SOURCE_MISSING for `resampling` other than the default in a request whose rasters have no assets */
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

/** Identity of a source in its table: its address without credentials, or its path below its root. */
export function nameOf(source: RasterSource, dataRoots: readonly string[]): string {
  if (source.kind === 'scene') return sceneName(source, (file) => nameOf(file, dataRoots))
  if (source.kind !== 'path') return describeSource(source)
  const root = dataRoots.map((path) => resolve(path) + sep).find((path) => source.path.startsWith(path))
  return root === undefined ? source.path : source.path.slice(root.length)
}

/** Public part of the source, for a record. */
export function describeSource(source: RasterSource): string {
  if (source.kind === 'scene') return sceneName(source, describeSource)
  if (source.kind === 'storage') return `${source.bucket}/${source.path}`
  return source.kind === 'url' ? redactUrl(source.url) : basename(source.path)
}

function sceneName({ assets }: SceneSource, name: (file: FileSource) => string): string {
  return [name(assets[0].source), ...assets.slice(1).map((asset) => asset.name ?? fileNameOf(asset.source))].join(', ')
}

/** Last part of the source's name, which may name the product. */
export function fileNameOf(source: RasterSource): string {
  if (source.kind === 'scene') return fileNameOf(source.assets[0].source)
  return basename(source.kind === 'url' ? (URL.parse(source.url)?.pathname ?? '') : source.path)
}
