import { SaxesParser } from 'saxes'
import { epsgOf } from '../crs/epsg-of-text.ts'
import { vrtUnusable } from '../errors.ts'
import type { Affine, BandColor, SampleType } from '../raster-info.ts'
import type { PixelRect } from '../plan.ts'
import type { Resampling, Scene, SceneBand, ScenePiece } from './scene.ts'

/** A VRT as a scene. */
export interface VrtScene {
  readonly scene: Scene
  /** Names of its files as written; the scene refers to them by index. */
  readonly files: readonly string[]
}

/** Maximum length of a VRT, in bytes. */
export const MAX_VRT_BYTES = 4 << 20
const MAX_BANDS = 64
const MAX_FILES = 256
const MAX_PIECES = 4096
const MAX_DEPTH = 32
const MAX_SIDE = 0x7fffffff

/** Whether a file begins like a VRT. */
export function isVrt(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head.subarray(0, 1024)).trimStart()
  return text.startsWith('<') && text.includes('<VRTDataset')
}

/**
 * Reads a VRT of plain bands: SimpleSource and ComplexSource, as gdalbuildvrt writes them.
 *
 * Source: https://gdal.org/en/stable/drivers/raster/vrt.html
 *
 * @throws VRT_UNUSABLE for anything else, and beyond 64 bands, 256 files or 4,096 sources
 */
export function readVrt(text: string): VrtScene {
  const root = parse(text)
  if (root.name !== 'VRTDataset') throw vrtUnusable({ why: `its root is ${root.name}` })
  const subclass = root.attributes['subClass']
  if (subclass !== undefined) throw vrtUnusable({ why: `it is a ${subclass}` })
  if (child(root, 'GCPList')) throw vrtUnusable({ why: 'it has ground control points in the place of a transform' })
  const [width, height] = [side(root, 'rasterXSize'), side(root, 'rasterYSize')]
  const nodes = root.children.filter(({ name }) => name === 'VRTRasterBand')
  if (nodes.length === 0 || nodes.length > MAX_BANDS) throw vrtUnusable({ why: `it has ${nodes.length} bands` })
  const files = new FileList()
  const bands = nodes.map((node) => readBand(node, files))
  const pieces = bands.reduce((sum, band) => sum + band.pieces.length, 0)
  if (pieces > MAX_PIECES) throw vrtUnusable({ why: `it has ${pieces} sources; ${MAX_PIECES} are allowed` })
  const affine = readTransform(root)
  const mask = child(root, 'MaskBand')
  if (mask !== null) checkMask(mask, files.all)
  return {
    files: files.all,
    scene: {
      grid: { width, height, affine },
      epsg: epsgOf(textOf(root, 'SRS') ?? ''),
      bands,
      mask: null,
      ownMasks: mask !== null,
      tags: readTags(root),
    },
  }
}

/** The files of a VRT, each once. */
class FileList {
  readonly all: string[] = []

  numberOf(file: string): number {
    const known = this.all.indexOf(file)
    if (known !== -1) return known
    if (this.all.length === MAX_FILES) throw vrtUnusable({ why: `it names more than ${MAX_FILES} files` })
    return this.all.push(file) - 1
  }
}

const TYPES: ReadonlyMap<string, SampleType> = new Map([
  ['Byte', 'uint8'],
  ['Int8', 'int8'],
  ['UInt16', 'uint16'],
  ['Int16', 'int16'],
  ['UInt32', 'uint32'],
  ['Int32', 'int32'],
  ['Float32', 'float32'],
  ['Float64', 'float64'],
])
const COLORS: ReadonlyMap<string, BandColor> = new Map([
  ['Gray', 'gray'],
  ['Red', 'red'],
  ['Green', 'green'],
  ['Blue', 'blue'],
  ['Alpha', 'alpha'],
])
/** Children of a band that do not affect its pixels. */
const IGNORED = ['Metadata', 'Overview', 'Histograms', 'UnitType', 'HideNoDataValue', 'CategoryNames']

function readBand(node: XmlNode, files: FileList): SceneBand {
  const subclass = node.attributes['subClass']
  if (subclass !== undefined) throw vrtUnusable({ why: `a band is a ${subclass}` })
  const typeName = node.attributes['dataType'] ?? 'Byte'
  const type = TYPES.get(typeName)
  if (type === undefined) throw vrtUnusable({ why: `a band has samples of ${typeName}` })
  const color = textOf(node, 'ColorInterp')
  if (color === 'Palette' || child(node, 'ColorTable')) throw vrtUnusable({ why: 'a band has a palette' })
  const pieces: ScenePiece[] = []
  for (const part of node.children) {
    if (part.name === 'SimpleSource' || part.name === 'ComplexSource') pieces.push(readPiece(part, files))
    else if (![...IGNORED, 'ColorInterp', 'Description', 'NoDataValue', 'Scale', 'Offset'].includes(part.name)) {
      throw vrtUnusable({ why: `a band has ${part.name}` })
    }
  }
  return {
    name: textOf(node, 'Description'),
    color: COLORS.get(color ?? '') ?? null,
    scale: numberIn(node, 'Scale') ?? 1,
    offset: numberIn(node, 'Offset') ?? 0,
    nodata: numberIn(node, 'NoDataValue'),
    type,
    pieces,
  }
}

const SOURCE_PARTS: ReadonlySet<string> = new Set([
  'SourceFilename',
  'SourceBand',
  'SourceProperties',
  'SrcRect',
  'DstRect',
  'NODATA',
  'ScaleOffset',
  'ScaleRatio',
])

function readPiece(node: XmlNode, files: FileList): ScenePiece {
  const other = node.children.find(({ name }) => !SOURCE_PARTS.has(name))
  if (other) throw vrtUnusable({ why: `a source has ${other.name}` })
  const file = child(node, 'SourceFilename')
  if (file === null || file.text.trim() === '') throw vrtUnusable({ why: 'a source names no file' })
  const bandText = textOf(node, 'SourceBand') ?? '1'
  const band = Number(bandText)
  // Also refuses `mask,1` and similar.
  if (!Number.isInteger(band) || band < 1 || band > 65_535) throw vrtUnusable({ why: `a source is band ${bandText}` })
  const [from, to] = [rectOf(node, 'SrcRect'), rectOf(node, 'DstRect')]
  if (from === null || to === null) throw vrtUnusable({ why: 'a source has no SrcRect or DstRect' })
  const isComplex = node.name === 'ComplexSource'
  return {
    file: files.numberOf(file.text.trim()),
    band: band - 1,
    place: { from, to },
    resampling: resamplingOf(node),
    without: isComplex ? numberIn(node, 'NODATA') : null,
    ratio: isComplex ? (numberIn(node, 'ScaleRatio') ?? 1) : 1,
    shift: isComplex ? (numberIn(node, 'ScaleOffset') ?? 0) : 0,
  }
}

function resamplingOf({ attributes }: XmlNode): Resampling {
  const name = (attributes['resampling'] ?? 'near').toLowerCase()
  if (name === 'near' || name === 'nearest') return 'nearest'
  if (name === 'bilinear') return 'bilinear'
  throw vrtUnusable({ why: `a source is resampled by ${name}; nearest and bilinear are read` })
}

function readTransform(root: XmlNode): Affine {
  const numbers = (textOf(root, 'GeoTransform') ?? '')
    .split(',')
    .map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) throw vrtUnusable({ why: 'it has no GeoTransform' })
  const [, xc, xr, , yc, yr] = numbers as unknown as Affine
  if (xc * yr === xr * yc) throw vrtUnusable({ why: 'its GeoTransform has no area' })
  return numbers as unknown as Affine
}

/** Accepts a mask that comes from the files. @throws VRT_UNUSABLE for any other */
function checkMask(node: XmlNode, files: readonly string[]): void {
  const parts = node.children.flatMap(({ children }) => children).filter(({ name }) => name.endsWith('Source'))
  const isOwn = (part: XmlNode): boolean =>
    /^mask(?:,\d+)?$/.test(textOf(part, 'SourceBand') ?? '') && files.includes(textOf(part, 'SourceFilename') ?? '')
  if (parts.length === 0 || !parts.every(isOwn)) throw vrtUnusable({ why: 'its MaskBand is not that of its files' })
}

function readTags(root: XmlNode): Record<string, string> {
  const plain = root.children.filter(
    ({ name, attributes }) => name === 'Metadata' && attributes['domain'] === undefined,
  )
  const items = plain.flatMap(({ children }) => children.filter(({ name }) => name === 'MDI'))
  return Object.fromEntries(
    items.flatMap(({ attributes, text }) => (attributes['key'] ? [[attributes['key'], text]] : [])),
  )
}

function side({ attributes }: XmlNode, name: string): number {
  const value = Number(attributes[name])
  if (Number.isInteger(value) && value > 0 && value <= MAX_SIDE) return value
  throw vrtUnusable({ why: `its ${name} is ${attributes[name] ?? 'missing'}` })
}

function rectOf(node: XmlNode, name: string): PixelRect | null {
  const found = child(node, name)
  if (found === null) return null
  const [x, y, width, height] = ['xOff', 'yOff', 'xSize', 'ySize'].map((key) =>
    Number(found.attributes[key] ?? Number.NaN),
  )
  if (![x, y, width, height].every((value) => Number.isFinite(value) && Math.abs(value as number) <= MAX_SIDE)) {
    throw vrtUnusable({ why: `a ${name} is not a rectangle` })
  }
  return { x: x as number, y: y as number, width: width as number, height: height as number }
}

function numberIn(node: XmlNode, name: string): number | null {
  const text = textOf(node, name)
  if (text === null) return null
  if (/^[+-]?nan$/i.test(text)) return Number.NaN
  const value = Number(text)
  if (text === '' || !Number.isFinite(value)) throw vrtUnusable({ why: `${name} is ${text.slice(0, 40)}` })
  return value
}

function textOf(node: XmlNode, name: string): string | null {
  return child(node, name)?.text.trim() ?? null
}

function child({ children }: XmlNode, name: string): XmlNode | null {
  return children.find((node) => node.name === name) ?? null
}

interface XmlNode {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: XmlNode[]
  text: string
}

/** The tree of a document. Entity declarations are not read, so only the predefined entities of XML are known. */
function parse(text: string): XmlNode {
  if (text.length > MAX_VRT_BYTES) throw vrtUnusable({ why: `it has more than ${MAX_VRT_BYTES} bytes` })
  const parser = new SaxesParser()
  const open: XmlNode[] = []
  let root: XmlNode | null = null
  parser.on('opentag', ({ name, attributes }) => {
    const node: XmlNode = { name, attributes, children: [], text: '' }
    if (open.length === MAX_DEPTH) throw vrtUnusable({ why: `it is more than ${MAX_DEPTH} levels deep` })
    open.at(-1)?.children.push(node)
    root ??= node
    open.push(node)
  })
  const addText = (part: string): void => {
    const node = open.at(-1)
    if (node) node.text += part
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => void open.pop())
  parser.on('error', ({ message }) => {
    throw vrtUnusable({ why: message })
  })
  parser.write(text).close()
  if (root === null) throw vrtUnusable({ why: 'it is empty' })
  return root
}
