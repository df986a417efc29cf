/** TIFF field types that are written, with their codes. */
const TYPES = { text: 2, short: 3, double: 12, long8: 16 } as const
const SIZES = { text: 1, short: 2, double: 8, long8: 8 } as const

/** A field of an image file directory. */
export interface TiffField {
  readonly tag: number
  readonly type: keyof typeof TYPES
  readonly values: ArrayLike<number>
}

/** Bytes of the header of a BigTIFF. */
export const HEADER_BYTES = 16
const ENTRY_BYTES = 20

/**
 * The header of a little-endian BigTIFF.
 *
 * Source: the BigTIFF extension by Aware Systems.
 *
 * @param first position of the first directory
 */
export function tiffHeader(first: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES))
  view.setUint32(0, 0x002b4949, true)
  view.setUint16(4, 8, true)
  view.setBigUint64(8, BigInt(first), true)
  return new Uint8Array(view.buffer)
}

/**
 * Directories of a BigTIFF, one after the other, with the values that do not fit into their entries.
 *
 * @param images fields of each image; sorted by tag here
 * @param start file position of the first directory
 */
export function tiffDirectories(images: readonly (readonly TiffField[])[], start: number): Uint8Array {
  const sizes = images.map((fields) => fields.reduce((sum, field) => sum + outside(field), directoryBytes(fields)))
  const out = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0))
  const view = new DataView(out.buffer)
  let at = 0
  for (const [i, unsorted] of images.entries()) {
    const fields = unsorted.toSorted((a, b) => a.tag - b.tag)
    let place = at + directoryBytes(fields)
    view.setBigUint64(at, BigInt(fields.length), true)
    for (const [n, field] of fields.entries()) {
      const entry = at + 8 + n * ENTRY_BYTES
      view.setUint16(entry, field.tag, true)
      view.setUint16(entry + 2, TYPES[field.type], true)
      view.setBigUint64(entry + 4, BigInt(field.values.length), true)
      const isOutside = outside(field) > 0
      if (isOutside) view.setBigUint64(entry + 12, BigInt(start + place), true)
      writeValues(view, isOutside ? place : entry + 12, field)
      place += outside(field)
    }
    const next = at + (sizes[i] as number)
    view.setBigUint64(at + 8 + fields.length * ENTRY_BYTES, BigInt(i + 1 < images.length ? start + next : 0), true)
    at = next
  }
  return out
}

/** A field of numbers of 16 bits. */
export function shortField(tag: number, values: ArrayLike<number>): TiffField {
  return { tag, type: 'short', values }
}

/** A field of numbers of 64 bits. */
export function longField(tag: number, values: ArrayLike<number>): TiffField {
  return { tag, type: 'long8', values }
}

/** A text with its terminator, as the values of a field. */
export function tiffText(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`)
}

/** GDAL's metadata of a band. */
export interface BandItems {
  readonly name?: string | null
  /** Colour interpretation by GDAL's name; by default the photometric interpretation decides. */
  readonly color?: string
  readonly scale: number
  readonly offset: number
  /** Further items by name. */
  readonly items?: Readonly<Record<string, string>>
}

/** The text of GDAL's metadata: items of bands, and tags of the file. */
export function gdalMetadata(bands: readonly BandItems[], tags: Readonly<Record<string, string>> = {}): string {
  const items = bands.flatMap(({ name, color, scale, offset, items: further = {} }, band) => [
    ...(scale === 1 && offset === 0 ? [] : [item(`name="SCALE" sample="${band}" role="scale"`, `${scale}`)]),
    ...(scale === 1 && offset === 0 ? [] : [item(`name="OFFSET" sample="${band}" role="offset"`, `${offset}`)]),
    ...(color && color !== 'undefined' ? [item(`name="COLORINTERP" sample="${band}" role="colorinterp"`, color)] : []),
    ...(name ? [item(`name="DESCRIPTION" sample="${band}" role="description"`, name)] : []),
    ...Object.entries(further).map(([key, value]) => item(`name="${escapeXml(key)}" sample="${band}"`, value)),
  ])
  const texts = Object.entries(tags).map(([name, value]) => item(`name="${escapeXml(name)}"`, value))
  return items.length + texts.length === 0 ? '' : `<GDALMetadata>${[...texts, ...items].join('')}</GDALMetadata>`
}

/** GDAL unescapes a value once more than XML does: "a & b" that is escaped once ends at its "&" there. */
function item(attributes: string, value: string): string {
  return `<Item ${attributes}>${escapeXml(escapeXml(value))}</Item>`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function directoryBytes(fields: readonly TiffField[]): number {
  return 8 + fields.length * ENTRY_BYTES + 8
}

/** Bytes of a field's values outside of its entry, in multiples of 8. */
function outside({ type, values }: TiffField): number {
  const bytes = SIZES[type] * values.length
  return bytes <= 8 ? 0 : Math.ceil(bytes / 8) * 8
}

function writeValues(view: DataView, at: number, { type, values }: TiffField): void {
  const size = SIZES[type]
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (type === 'text') view.setUint8(at + i, value)
    else if (type === 'short') view.setUint16(at + i * size, value, true)
    else if (type === 'long8') view.setBigUint64(at + i * size, BigInt(value), true)
    else view.setFloat64(at + i * size, value, true)
  }
}
