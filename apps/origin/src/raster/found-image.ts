import { createHash } from 'node:crypto'
import type { RasterImage } from '@terrane/tiling/raster'
import type { FileOpener, OpenFile } from './open-file.ts'
import { MAX_ITEM_BYTES, filePart, itemPart, vrtPart, type OpenPart } from './scene.ts'
import type { SourceChoice } from './source-choice.ts'
import type { FoundRaster } from './sources.ts'

/** Parts as one picture, the first on top. */
export function foundImage(
  parts: readonly OpenPart[],
  selection: RasterImage['plan']['selection'] = 'first',
): FoundRaster {
  const files = parts.flatMap((part) => part.files)
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

/** A file as what it is. */
export async function partOf(found: OpenFile, choice: SourceChoice, opener: FileOpener): Promise<OpenPart> {
  const { source } = found
  const name = source.kind === 'url' ? source.url : source.path
  if (/\.vrt$/i.test(name.split(/[?#]/)[0]!)) return vrtPart(found, opener)
  if (!isItem(name, choice)) return filePart(found)
  const part = await itemPart(await opener.text(found, MAX_ITEM_BYTES), source, choice.assets, opener)
  return { ...part, isOpen: part.isOpen && found.isOpen }
}

/** Whether a name is that of a STAC item. */
export function isItem(name: string, { assets }: SourceChoice): boolean {
  const path = name.split(/[?#]/)[0]!
  return assets !== null || /\.(?:geo)?json$/i.test(path) || /\/items\/[^/]+$/.test(path)
}
