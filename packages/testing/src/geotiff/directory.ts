import type { EncodedLevel } from './levels.ts'
import { bitsOf } from './samples.ts'
import type { Field, FixtureColor, FixtureCompression, FixtureGeoreference, GeoTiffOptions } from './spec.ts'

/** TIFF field types by code. */
export const FIELD = { byte: 1, ascii: 2, short: 3, long: 4, undefined: 7, double: 12, long8: 16 } as const

const COMPRESSION: Readonly<Record<FixtureCompression, number>> = {
  none: 1,
  lzw: 5,
  jpeg: 7,
  deflate: 8,
  packbits: 32773,
  lerc: 34887,
  zstd: 50000,
  webp: 50001,
}

const PHOTOMETRIC: Readonly<Record<FixtureColor, number>> = {
  'gray-inverted': 0,
  gray: 1,
  rgb: 2,
  palette: 3,
  ycbcr: 6,
}

/** Fields that distinguish the images of one file. */
export interface DirectoryRole {
  readonly subfileType: number
  readonly jpegTables: Uint8Array | null
}

/** The fields of an image, all but the offsets of its blocks. */
export function imageFields(level: EncodedLevel, options: GeoTiffOptions, role: DirectoryRole): Field[] {
  const { type, compression = 'none', predictor = 1, bitsPerSample = bitsOf(type), planar = false } = options
  const { width, height, bands } = level
  const color = options.color ?? (bands >= 3 ? 'rgb' : 'gray')
  const extras =
    options.extraSamples ?? Array.from({ length: bands - (color === 'rgb' || color === 'ycbcr' ? 3 : 1) }, () => 0)
  const format = type.startsWith('float') ? 3 : type.startsWith('int') ? 2 : 1
  const repeated = (value: number): number[] => Array.from({ length: bands }, () => value)
  const fields = [
    long(254, role.subfileType),
    long(256, width),
    long(257, height),
    shorts(258, repeated(bitsPerSample)),
    shorts(259, [COMPRESSION[compression]]),
    shorts(262, [PHOTOMETRIC[color]]),
    shorts(277, [bands]),
    shorts(284, [planar ? 2 : 1]),
    shorts(317, [predictor]),
    shorts(339, repeated(format)),
    ...(level.tiled ? [long(322, level.blockWidth), long(323, level.blockHeight)] : [long(278, level.blockHeight)]),
  ]
  if (color === 'ycbcr') fields.push(shorts(530, options.halveChroma === true ? [2, 2] : [1, 1]))
  if (extras.length > 0) fields.push(shorts(338, extras))
  if (role.jpegTables !== null) fields.push({ tag: 347, type: FIELD.undefined, values: role.jpegTables })
  if (options.palette !== undefined) fields.push(shorts(320, colorMap(options.palette, bitsPerSample)))
  if (compression === 'lerc') {
    fields.push({
      tag: 50674,
      type: FIELD.long,
      values: [4, ['none', 'deflate', 'zstd'].indexOf(options.lercWrapper ?? 'none')],
    })
  }
  return fields
}

/** A mask's fields; `reduced` for the mask of an overview. */
export function maskFields(level: EncodedLevel, reduced: boolean): Field[] {
  const options: GeoTiffOptions = { type: 'uint8', bitsPerSample: 1, compression: 'deflate', color: 'gray' }
  const fields = imageFields(level, options, { subfileType: reduced ? 5 : 4, jpegTables: null })
  return fields.map((field) => (field.tag === 262 ? shorts(262, [4]) : field))
}

/** The fields that only the full image has: georeference, nodata, metadata. */
export function rasterFields(options: GeoTiffOptions): Field[] {
  const fields = options.georeference === undefined ? [] : georeferenceFields(options.georeference)
  if (options.nodata !== undefined) fields.push(ascii(42113, options.nodata))
  const { bandItems = [], fileItems = {} } = options
  const items = [
    ...Object.entries(fileItems).map(([name, value]) => `<Item name="${name}">${value}</Item>`),
    ...bandItems.map(
      ({ band, role, value }) => `<Item name="${role.toUpperCase()}" sample="${band}" role="${role}">${value}</Item>`,
    ),
  ]
  if (items.length > 0) {
    fields.push(ascii(42112, `<GDALMetadata>${items.join('')}</GDALMetadata>`))
  }
  return fields
}

function georeferenceFields(georeference: FixtureGeoreference): Field[] {
  const { affine, groundControlPoints: points, pixelIsPoint = false } = georeference
  const fields: Field[] = []
  if (points !== undefined)
    fields.push(
      doubles(
        33922,
        points.flatMap(([column, row, x, y]) => [column, row, 0, x, y, 0]),
      ),
    )
  if (affine !== undefined) {
    const [x, a, b, y, c, d] = affine
    const tie = pixelIsPoint ? [x + (a + b) / 2, y + (c + d) / 2] : [x, y]
    const [tieX = 0, tieY = 0] = tie
    if (b === 0 && c === 0 && a > 0 && d < 0) {
      fields.push(doubles(33550, [a, -d, 0]), doubles(33922, [0, 0, 0, tieX, tieY, 0]))
    } else {
      fields.push(doubles(34264, [a, b, 0, tieX, c, d, 0, tieY, 0, 0, 0, 0, 0, 0, 0, 1]))
    }
  }
  return [...fields, ...keyFields(georeference, pixelIsPoint)]
}

function keyFields({ epsg, geographic = false, citation }: FixtureGeoreference, pixelIsPoint: boolean): Field[] {
  const text = citation === undefined ? '' : `${citation}|`
  const keys: number[][] = [[1025, 0, 1, pixelIsPoint ? 2 : 1]]
  if (epsg !== undefined) keys.push([1024, 0, 1, geographic ? 2 : 1], [geographic ? 2048 : 3072, 0, 1, epsg])
  if (citation !== undefined) keys.push([1026, 34737, text.length, 0])
  keys.sort(([a = 0], [b = 0]) => a - b)
  const fields = [shorts(34735, [1, 1, 0, keys.length, ...keys.flat()])]
  return citation === undefined ? fields : [...fields, ascii(34737, text)]
}

function colorMap(palette: NonNullable<GeoTiffOptions['palette']>, bits: number): number[] {
  const entries = 2 ** bits
  return [0, 1, 2].flatMap((channel) => Array.from({ length: entries }, (_, i) => (palette[i]?.[channel] ?? 0) * 257))
}

function long(tag: number, value: number): Field {
  return { tag, type: FIELD.long, values: [value] }
}

function shorts(tag: number, values: readonly number[]): Field {
  return { tag, type: FIELD.short, values }
}

function doubles(tag: number, values: readonly number[]): Field {
  return { tag, type: FIELD.double, values }
}

function ascii(tag: number, text: string): Field {
  return { tag, type: FIELD.ascii, values: Buffer.from(`${text}\0`, 'utf8') }
}
