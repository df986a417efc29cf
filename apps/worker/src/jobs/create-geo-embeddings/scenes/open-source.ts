import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobWarning } from '@terrane/contracts'
import {
  ALL_BANDS,
  MAX_VRT_BYTES,
  fileNear,
  isVrt,
  plainFile,
  readVrt,
  type FileSource,
  type PartialBand,
  type Scene,
} from '@terrane/tiling/scene'
import type { JobContext } from '../../task.ts'
import { fileRefused, sourceTooLarge } from '../errors.ts'
import { stackFiles } from '../inspect.ts'
import {
  MAX_BYTES_SETTING,
  fileNumber,
  sceneFiles,
  type RasterSource,
  type SceneAssetFile,
  type SceneFile,
  type SceneSource,
} from '../source.ts'
import { openFile, sceneVersion, type SourceFile, type SourceOptions } from '../source-file.ts'

/**
 * A raster as one GeoTIFF: at its own path, copied into the job's folder, or made there from the files of a scene or a
 * VRT.
 *
 * @throws what `openFile`, `readVrt` and `stackScene` throw
 */
export async function openSource(
  source: RasterSource,
  context: JobContext,
  options: SourceOptions,
): Promise<SourceFile> {
  if (source.kind === 'scene') return openScene(source, context, options)
  const at = source.kind === 'storage' ? '/storagePath' : '/geotiffPath'
  const file = await openFile({ source, at, name: 'source.tif' }, context, options)
  const text = await vrtText(file.path)
  return text === null ? file : openVrt(text, { file, source, at }, context, options)
}

/** A file to open, and its place in the request. */
type Wanted = Pick<SceneFile, 'source' | 'at'>

async function openScene(source: SceneSource, context: JobContext, options: SourceOptions): Promise<SourceFile> {
  const wanted = sceneFiles(source)
  const files = await openAll(wanted, context, options)
  const numberOf = (one: FileSource): number => fileNumber(wanted, one)
  const { mask } = source
  const scene: Scene = {
    grid: null,
    epsg: null,
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
  return { version, ...(await stacked(scene, files, context, options)) }
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
  { file, source, at }: { readonly file: SourceFile; readonly source: FileSource; readonly at: string },
  context: JobContext,
  options: SourceOptions,
): Promise<SourceFile> {
  const { scene, files: named } = readVrt(text)
  const wanted = named.map((name) => {
    const found = fileNear(name, source, 'name')
    if (found === null) throw fileRefused({ name, where: 'The VRT', at })
    return { source: found, at }
  })
  const files = await openAll(wanted, context, options)
  const version = JSON.stringify([file.version, ...files.map((one) => one.version)])
  const made = await stacked(scene, files, context, options)
  return { version, ...made, files: wanted.map((one) => one.source) }
}

/** Opens files one after the other; the size limit of one file holds for all of them together. */
async function openAll(wanted: readonly Wanted[], context: JobContext, options: SourceOptions): Promise<SourceFile[]> {
  const files: SourceFile[] = []
  let left = options.maxBytes
  for (const [i, { source, at }] of wanted.entries()) {
    const file = await openFile({ source, at, name: `asset-${i}.tif` }, context, { ...options, maxBytes: left })
    files.push(file)
    if (options.maxBytes === 0) continue
    left -= await sizeOf(file.path)
    // A remaining limit of 0 would mean no limit.
    if (left <= 0 && i + 1 < wanted.length) {
      throw sourceTooLarge({
        limit: options.maxBytes,
        why: `its first ${i + 1} of ${wanted.length} files are as large`,
      })
    }
  }
  return files
}

/** Combines the files of a scene into one GeoTIFF, then removes their copies from the job's folder. */
async function stacked(
  scene: Scene,
  files: readonly SourceFile[],
  context: JobContext,
  options: SourceOptions,
): Promise<Pick<SourceFile, 'path' | 'warnings'>> {
  const path = join(context.workdir, 'scene.tif')
  context.progress({ phase: 'stack', message: 'bringing the bands to one grid', done: 0, total: null, unit: '' })
  const maxBytes = { limit: options.maxBytes, setting: MAX_BYTES_SETTING }
  const partial = await stackFiles({ scene, paths: files.map((file) => file.path), path, maxBytes }, context.signal)
  const copies = files.filter((file) => file.path.startsWith(context.workdir))
  await Promise.all(copies.map((file) => rm(file.path)))
  return { path, warnings: partial.length === 0 ? [] : [bandsIncomplete(partial)] }
}

function bandsIncomplete(partial: readonly PartialBand[]): JobWarning {
  const examples = partial.slice(0, 10).map(({ band, cover }) => `${band}: ${Math.floor(cover * 1000) / 10} %`)
  const message = 'Files of some bands cover only a part of the grid; pixels that one lacks are left out of all'
  return { code: 'BANDS_INCOMPLETE', message, count: partial.length, examples }
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
