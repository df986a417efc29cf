import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ALL_BANDS, MAX_VRT_BYTES, isVrt, plainFile, readVrt, type Scene } from '@terrane/tiling/scene'
import type { JobContext } from '../../task.ts'
import { fileRefused, sourceTooLarge } from '../errors.ts'
import { stackFiles } from '../inspect.ts'
import {
  MAX_BYTES_SETTING,
  openFile,
  sceneVersion,
  type FileSource,
  type RasterSource,
  type SceneAssetFile,
  type SceneFile,
  type SceneSource,
  type SourceFile,
  type SourceOptions,
} from '../source.ts'
import { fileNear } from './file-near.ts'

/**
 * A raster as one GeoTIFF: where it lies, brought into the job's folder, or made there of the files of a scene or a VRT.
 *
 * @throws what `openFile`, `readVrt` and `stackScene` throw
 */
export async function openSource(
  source: RasterSource,
  context: JobContext,
  options: SourceOptions,
): Promise<SourceFile> {
  if (source.kind === 'scene') return openScene(source, context, options)
  const file = await openFile({ source, at: '/geotiffPath', name: 'source.tif' }, context, options)
  const text = await vrtText(file.path)
  return text === null ? file : openVrt(text, { file, source }, context, options)
}

/** A file to be opened, and where it is named. */
type Wanted = Pick<SceneFile, 'source' | 'at'>

async function openScene(source: SceneSource, context: JobContext, options: SourceOptions): Promise<SourceFile> {
  const wanted = distinct([...source.assets, ...(source.mask ? [source.mask] : [])])
  const files = await openAll(wanted, context, options)
  const numberOf = (one: FileSource): number => wanted.findIndex((other) => keyOf(other.source) === keyOf(one))
  const { mask } = source
  const scene: Scene = {
    grid: null,
    bands: source.assets.map((asset) => bandOf(asset, numberOf(asset.source), source.resampling)),
    mask: mask && { file: numberOf(mask.source), band: (mask.band ?? 1) - 1, values: mask.values, bits: mask.bits },
    ownMasks: true,
    tags: {},
  }
  const version = sceneVersion(
    source,
    files.map((file) => file.version),
  )
  const plain = plainFile(scene)
  if (plain !== null) return { path: files[plain]!.path, version }
  return stacked(scene, files, version, { context, options })
}

function bandOf(
  { band, name, scale, offset, nodata }: SceneAssetFile,
  file: number,
  resampling: SceneSource['resampling'],
): Scene['bands'][number] {
  const number = band === null ? ALL_BANDS : band - 1
  const piece = { file, band: number, place: null, resampling, without: null, ratio: 1, shift: 0 }
  return { name, color: null, scale, offset, nodata, type: null, pieces: [piece] }
}

async function openVrt(
  text: string,
  { file, source }: { readonly file: SourceFile; readonly source: FileSource },
  context: JobContext,
  options: SourceOptions,
): Promise<SourceFile> {
  const { scene, files: named } = readVrt(text)
  const wanted = named.map(({ name }) => {
    const found = fileNear(name, source)
    if (found === null) throw fileRefused({ name, where: 'The VRT', at: '/geotiffPath' })
    return { source: found, at: '/geotiffPath' }
  })
  const files = await openAll(wanted, context, options)
  const version = JSON.stringify([file.version, ...files.map((one) => one.version)])
  return stacked(scene, files, version, { context, options })
}

/** Opens files one after the other; together they have no more bytes than one may have. */
async function openAll(wanted: readonly Wanted[], context: JobContext, options: SourceOptions): Promise<SourceFile[]> {
  const files: SourceFile[] = []
  let left = options.maxBytes
  for (const [i, { source, at }] of wanted.entries()) {
    const file = await openFile({ source, at, name: `asset-${i}.tif` }, context, { ...options, maxBytes: left })
    files.push(file)
    if (options.maxBytes === 0) continue
    left -= await sizeOf(file.path)
    // A limit of 0 would be none.
    if (left <= 0 && i + 1 < wanted.length) {
      throw sourceTooLarge({
        limit: options.maxBytes,
        why: `its first ${i + 1} of ${wanted.length} files are as large`,
      })
    }
  }
  return files
}

/** Makes the GeoTIFF; the copies of its files are no longer needed. */
async function stacked(
  scene: Scene,
  files: readonly SourceFile[],
  version: string,
  { context, options }: { readonly context: JobContext; readonly options: SourceOptions },
): Promise<SourceFile> {
  const path = join(context.workdir, 'scene.tif')
  context.progress({ phase: 'stack', message: 'bringing the bands to one grid', done: 0, total: null, unit: '' })
  const maxBytes = { limit: options.maxBytes, setting: MAX_BYTES_SETTING }
  await stackFiles({ scene, paths: files.map((file) => file.path), path, maxBytes }, context.signal)
  const copies = files.filter((file) => file.path.startsWith(context.workdir))
  await Promise.all(copies.map((file) => rm(file.path)))
  return { path, version }
}

/** The text of a VRT; null of any other file. */
async function vrtText(path: string): Promise<string | null> {
  await using file = await open(path)
  const head = new Uint8Array(1024)
  const { bytesRead } = await file.read(head, 0, head.length, 0)
  if (!isVrt(head.subarray(0, bytesRead))) return null
  const { size } = await file.stat()
  if (size > MAX_VRT_BYTES) throw sourceTooLarge({ limit: MAX_VRT_BYTES, why: `the VRT has ${size} bytes` })
  return await file.readFile({ encoding: 'utf8' })
}

async function sizeOf(path: string): Promise<number> {
  await using file = await open(path)
  return (await file.stat()).size
}

function distinct(files: readonly SceneFile[]): Wanted[] {
  const keys = new Set<string>()
  return files.filter(({ source }) => {
    const key = keyOf(source)
    if (keys.has(key)) return false
    keys.add(key)
    return true
  })
}

function keyOf(source: FileSource): string {
  return JSON.stringify(source)
}
