import { createHash } from 'node:crypto'
import type { RasterImage } from '@terrane/tiling/raster'
import { tooManyFiles } from './errors.ts'
import type { FileOpener, OpenFile } from './open-file.ts'
import { MAX_ITEM_BYTES, filePart, itemPart, vrtPart, type OpenPart } from './scene.ts'
import type { SourceChoice } from './source-choice.ts'
import type { FoundRaster } from './sources.ts'

/** Maximum files of one picture, over all its scenes. */
const MAX_IMAGE_FILES = 256

/** @throws TOO_MANY_FILES */
export function checkFiles(parts: readonly OpenPart[]): void {
  const files = parts.reduce((sum, part) => sum + part.files.length, 0)
  if (files > MAX_IMAGE_FILES) throw tooManyFiles({ files, limit: MAX_IMAGE_FILES })
}

/** Parts as one picture, the first on top. @throws TOO_MANY_FILES */
export function foundImage(
  parts: readonly OpenPart[],
  selection: RasterImage['plan']['selection'] = 'first',
): FoundRaster {
  const files = parts.flatMap((part) => part.files)
  checkFiles(parts)
  let before = 0
  const placed = parts.map(({ part, files: own }) => {
    const numbers = part.files.map((number) => number + before)
    before += own.length
    return { ...part, files: numbers }
  })
  const plan = { parts: placed, selection }
  const name = JSON.stringify([files.map(({ key }) => key), plan])
  const isPlain = files.length === 1 && placed[0]?.scene === null && placed[0].boxes === null
  const key = isPlain ? files[0]!.key : createHash('sha256').update(name).digest('base64url')
  return { image: { key, files, plan }, open: parts.every(({ isOpen }) => isOpen) }
}

/** Opens a file by its kind: GeoTIFF, VRT or STAC item. */
export async function partOf(found: OpenFile, choice: SourceChoice, opener: FileOpener): Promise<OpenPart> {
  const { source } = found
  const name = source.kind === 'url' ? source.url : source.path
  if (/\.vrt$/i.test(name.split(/[?#]/)[0]!)) return vrtPart(found, opener)
  if (!isItem(name, choice)) return filePart(found)
  const part = await itemPart(await opener.text(found, MAX_ITEM_BYTES), source, choice, opener)
  return { ...part, isOpen: part.isOpen && found.isOpen }
}

/** Whether a name is that of a STAC item. */
export function isItem(name: string, { assets, assetBands }: SourceChoice): boolean {
  const path = name.split(/[?#]/)[0]!
  const isOfApi = /^https?:.*\/items\/[^/]+$/i.test(path) && !/\.(?:tiff?|vrt)$/i.test(path)
  return assets !== null || assetBands.size > 0 || /\.(?:geo)?json$/i.test(path) || isOfApi
}
