import type { ImagePart, RasterFile } from '@terrane/tiling/raster'
import {
  ALL_BANDS,
  MAX_VRT_BYTES,
  chooseBands,
  fileNear,
  plainFile,
  readStacItem,
  readVrt,
  type ChosenBand,
  type FileSource,
  type Scene,
  type SceneBand,
  type StacItem,
} from '@terrane/tiling/scene'
import { itemUnreadable, sceneFilesMissing, tooManyFiles } from './errors.ts'
import type { FileOpener, OpenFile } from './open-file.ts'
import type { SourceChoice } from './source-choice.ts'

/** Maximum bytes of a STAC item. */
export const MAX_ITEM_BYTES = 4 << 20
/** Maximum files of one scene, because each is opened. */
const MAX_FILES = 64
/** Files of one scene that are looked up concurrently. */
const AT_ONCE = 8

/** A part of a picture with its files, which are numbered from 0. */
export interface OpenPart {
  readonly part: ImagePart
  readonly files: readonly RasterFile[]
  /** Whether anyone may cache its pictures. */
  readonly isOpen: boolean
}

/** A single file as a part. */
export function filePart({ file, isOpen }: OpenFile): OpenPart {
  return { part: { scene: null, files: [0], boxes: null }, files: [file], isOpen }
}

/** The bands of a STAC item: those named, else red, green and blue. @throws SOURCE_UNREADABLE, SCENE_UNUSABLE */
export async function itemPart(
  text: string,
  base: FileSource,
  choice: Pick<SourceChoice, 'assets' | 'assetBands'>,
  opener: FileOpener,
): Promise<OpenPart> {
  const item = readItem(text)
  const isAll = choice.assets?.length === 1 && choice.assets[0] === ALL_ASSETS
  const assets = isAll ? assetsOf(item) : choice.assets
  const { bands: chosen, mask } = chooseBands(item, { assets, channels: ['red', 'green', 'blue'], mask: null })
  const bands = pickBands(chosen, choice.assetBands)
  const at = base.kind === 'url' && item.self !== null && URL.canParse(item.self) ? { ...base, url: item.self } : base
  const files = new FileList((href) => openNear(opener, fileNear(href, at, 'address')))
  const scene = sceneOf(
    bands.map(({ href, band, name, scale, offset, nodata }) => ({
      ...bandOf(files.numberOf(href), band),
      name,
      scale,
      offset,
      nodata,
    })),
    mask && { file: files.numberOf(mask.href), band: mask.band, values: mask.values, bits: mask.bits },
  )
  return openScene(scene, await files.open())
}

/** Names of the assets of an item that are rasters. */
export function assetsOf({ bands }: StacItem): string[] {
  return [...new Set(bands.map(({ asset }) => asset))]
}

/** @throws ITEM_UNREADABLE */
export function readItem(text: string): StacItem {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw itemUnreadable({ why: 'it is no JSON' })
  }
  if ((value as { type?: unknown } | null)?.type !== 'Feature') throw itemUnreadable({ why: 'it is no STAC item' })
  return readStacItem(value, 0)
}

/** TiTiler's name for all assets. */
export const ALL_ASSETS = ':all:'

/** The bands of assets by their numbers, where some are named. @throws SCENE_UNUSABLE for an asset that is not drawn */
function pickBands(bands: readonly ChosenBand[], picks: SourceChoice['assetBands']): readonly ChosenBand[] {
  const unknown = [...picks.keys()].find((asset) => !bands.some((band) => band.asset === asset))
  if (unknown !== undefined) throw itemUnreadable({ why: `asset_bidx names ${unknown}, which is not a drawn asset` })
  return bands.flatMap((band, i) => {
    const numbers = picks.get(band.asset)
    if (numbers === undefined) return [band]
    const own = bands.filter(({ asset }) => asset === band.asset)
    if (own[0] !== bands[i]) return []
    return numbers.map((number) => {
      const picked = own.find((one) => one.band === number - 1) ?? band
      return { ...picked, band: number - 1, name: `${band.asset}_b${number}` }
    })
  })
}

/** A VRT with its files. @throws VRT_UNUSABLE */
export async function vrtPart(vrt: OpenFile, opener: FileOpener): Promise<OpenPart> {
  const { scene, files: names } = readVrt(await opener.text(vrt, MAX_VRT_BYTES))
  const files = new FileList((name) => openNear(opener, fileNear(name, vrt.source, 'name')))
  for (const name of names) files.numberOf(name)
  const part = openScene(scene, await files.open())
  return { ...part, isOpen: part.isOpen && vrt.isOpen }
}

/** A file of a scene as a table stores it. */
interface KeptFile {
  readonly file: string
  readonly name: string | null
  readonly band: number | null
  readonly scale?: number
  readonly offset?: number
  readonly nodata?: number
}

/** Description of a scene that a table stores. */
export interface KeptScene {
  readonly files: readonly KeptFile[]
  readonly mask?: {
    readonly file: string
    readonly band?: number | null
    readonly values: number[]
    readonly bits: number[]
  }
}

/** The scene from which a source of a table was made. */
export async function keptPart({ files: kept, mask }: KeptScene, opener: FileOpener): Promise<OpenPart> {
  const files = new FileList((name) => opener.openNamed(name))
  const scene = sceneOf(
    kept.map(({ file, name, band, scale = null, offset = null, nodata = null }) => ({
      ...bandOf(files.numberOf(file), band === null ? null : band - 1),
      name,
      scale,
      offset,
      nodata,
    })),
    mask ? { file: files.numberOf(mask.file), band: (mask.band ?? 1) - 1, values: mask.values, bits: mask.bits } : null,
  )
  return openScene(scene, await files.open())
}

function sceneOf(bands: readonly SceneBand[], mask: Scene['mask']): Scene {
  return { grid: null, epsg: null, bands, mask, ownMasks: true, tags: {} }
}

function bandOf(file: number, band: number | null): Pick<SceneBand, 'color' | 'type' | 'pieces'> {
  const piece = { place: null, resampling: 'nearest', without: null, ratio: 1, shift: 0 } as const
  return { color: null, type: null, pieces: [{ ...piece, file, band: band ?? ALL_BANDS }] }
}

function openScene(scene: Scene, files: readonly OpenFile[]): OpenPart {
  const plain = plainFile(scene)
  if (plain !== null) return filePart(files[plain] as OpenFile)
  return {
    part: { scene, files: files.map((_, i) => i), boxes: null },
    files: files.map(({ file }) => file),
    isOpen: files.every(({ isOpen }) => isOpen),
  }
}

/** Opens a file that is named relative to another one; null for a name that leads outside. */
async function openNear(opener: FileOpener, source: FileSource | null): Promise<OpenFile | null> {
  return source && (await opener.open(source))
}

/** Files that a scene names, each once. */
class FileList {
  readonly #names: string[] = []
  readonly #open: (name: string) => Promise<OpenFile | null>

  /** @param open returns null for a missing file, or one that the caller may not read */
  constructor(open: (name: string) => Promise<OpenFile | null>) {
    this.#open = open
  }

  numberOf(name: string): number {
    const known = this.#names.indexOf(name)
    return known === -1 ? this.#names.push(name) - 1 : known
  }

  /** @throws TOO_MANY_FILES, SCENE_FILE_NOT_FOUND */
  async open(): Promise<OpenFile[]> {
    const names = this.#names
    if (names.length > MAX_FILES) throw tooManyFiles({ files: names.length, limit: MAX_FILES })
    const found: OpenFile[] = []
    for (let i = 0; i < names.length; i += AT_ONCE) {
      const some = await Promise.all(names.slice(i, i + AT_ONCE).map((name) => this.#open(name)))
      for (const file of some) {
        if (file === null) throw sceneFilesMissing()
        found.push(file)
      }
    }
    return found
  }
}
