import { malformedGeoTiff } from '../errors.ts'
import type { BandColor, BandInfo, RasterLevel } from '../raster-info.ts'
import type { Directory } from './directory.ts'
import { TAG } from './tags.ts'

/** The logical bands of a raster: a palette counts as the three colours it expands to. */
export interface BandTable {
  readonly bands: readonly BandInfo[]
  readonly alphaBand: number | null
  readonly palette: Uint8Array | null
  readonly nodata: number | null
  readonly tags: Readonly<Record<string, string>>
}

/** @param heights default scale and offset of a single band */
export function readBands(
  directory: Directory,
  level: RasterLevel,
  heights: Pick<BandInfo, 'scale' | 'offset'> | null,
): BandTable {
  const palette = level.color === 'palette' ? readPalette(directory, level.bitsPerSample) : null
  const { items, tags } = readItems(directory.text(TAG.gdalMetadata) ?? '')
  const colors = palette === null ? readColors(directory, level, items) : (['red', 'green', 'blue'] as const)
  const isBare = colors.length === 1 && !items.has('0 scale') && !items.has('0 offset')
  const unscaled = (isBare ? heights : null) ?? { scale: 1, offset: 0 }
  const bands = colors.map((color, index) => ({
    index,
    color,
    name: items.get(`${index} description`) || null,
    scale: numberOf(items, index, 'scale', unscaled.scale),
    offset: numberOf(items, index, 'offset', unscaled.offset),
  }))
  const alpha = (colors as readonly BandColor[]).indexOf('alpha')
  return { bands, alphaBand: alpha === -1 ? null : alpha, palette, nodata: readNodata(directory), tags }
}

function readColors(directory: Directory, level: RasterLevel, items: BandItems): BandColor[] {
  const base: BandColor[] = level.color === 'rgb' || level.color === 'ycbcr' ? ['red', 'green', 'blue'] : ['gray']
  const extras = directory.integers(TAG.extraSamples, level.samplesPerPixel)
  // Except for gray, extra samples are the last ones, even if their list is too short.
  const firstExtra = level.color.startsWith('gray') ? 1 : level.samplesPerPixel - extras.length
  return Array.from({ length: level.samplesPerPixel }, (_, index) => {
    const declared = items.get(`${index} colorinterp`)?.toLowerCase()
    if (declared !== undefined) return COLOR_NAMES.get(declared) ?? 'undefined'
    const extra = extras[index - firstExtra] ?? 0
    return base[index] ?? (extra === 1 || extra === 2 ? 'alpha' : 'undefined')
  })
}

const COLOR_NAMES: ReadonlyMap<string, BandColor> = new Map(
  (['gray', 'red', 'green', 'blue', 'alpha'] as const).map((color) => [color, color]),
)

/** 16-bit colours as bytes; some writers store bytes, which then are all below 256. */
function readPalette(directory: Directory, bits: number): Uint8Array {
  const entries = 2 ** bits
  const stored = directory.integers(TAG.colorMap, 3 * entries)
  if (stored.length < 3 * entries)
    throw malformedGeoTiff({ what: `its colour map has ${stored.length} of ${3 * entries} entries` })
  const shift = stored.some((value) => value > 255) ? 8 : 0
  const palette = new Uint8Array(3 * entries)
  for (let i = 0; i < entries; i++) {
    for (let c = 0; c < 3; c++) palette[3 * i + c] = (stored[c * entries + i] ?? 0) >> shift
  }
  return palette
}

function readNodata(directory: Directory): number | null {
  const text = directory.text(TAG.gdalNodata)?.trim().toLowerCase() ?? ''
  if (/^[+-]?nan/.test(text)) return Number.NaN
  if (/^[+-]?inf/.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  return text === '' || Number.isNaN(Number(text)) ? null : Number(text)
}

/** Values by band and role, as in `0 scale`. */
type BandItems = ReadonlyMap<string, string>

/**
 * GDAL stores metadata without a TIFF tag as `<Item name=… sample=… role=…>value</Item>`: items with a sample belong to
 * a band, others to the file.
 */
function readItems(xml: string): { items: BandItems; tags: Record<string, string> } {
  const items = new Map<string, string>()
  const tags: Record<string, string> = {}
  for (const [, attributes = '', value = ''] of xml.matchAll(/<Item\b([^<>]*)>([^<]*)<\/Item>/g)) {
    const sample = /\bsample=["'](\d+)["']/.exec(attributes)?.[1]
    const role = /\brole=["'](\w+)["']/.exec(attributes)?.[1]
    const name = /\bname=["']([^"']+)["']/.exec(attributes)?.[1]
    if (sample !== undefined && role !== undefined) items.set(`${Number(sample)} ${role}`, textOf(value.trim()))
    else if (sample === undefined && name !== undefined) tags[name] = textOf(value.trim())
  }
  return { items, tags }
}

/** GDAL escapes a value before it writes it as XML, which escapes it again. */
function textOf(value: string): string {
  return unescapeXml(unescapeXml(value))
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:(lt|gt|quot|apos|amp)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, (whole, name, decimal, hex) => {
    if (typeof name === 'string') return ENTITIES[name.toLowerCase()] as string
    const point = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16)
    return point > 0 && point <= 0x10_ffff ? String.fromCodePoint(point) : whole
  })
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function numberOf(items: BandItems, band: number, role: string, otherwise: number): number {
  const value = Number(items.get(`${band} ${role}`) ?? otherwise)
  return Number.isFinite(value) ? value : otherwise
}
