import { create, type Font, type Glyph } from 'fontkitten'
import { PbfWriter } from 'pbf'
import { drawField } from './glyph-field.ts'
import { ringsOf } from './glyph-outline.ts'

/** Maximum bytes of an unpacked WOFF file. */
const MOST_UNPACKED = 32 * 1024 * 1024
/** Height of a glyph in pixels, as MapLibre expects it. */
const SIZE = 24
/** Width of a glyph whose own width is missing or too large, in pixels. */
const MOST_ADVANCE = 256

/** Glyphs of a font by their code points, as messages of glyphs.proto. */
export type DrawnGlyphs = ReadonlyMap<number, Uint8Array>

/** Reads a font file and returns the name of its face; the message of an error describes the fault. */
export function faceName(content: Uint8Array): string {
  const font = openFont(content)
  if (!(font.numGlyphs > 0 && font.characterSet.length > 0)) throw new Error('it has no glyphs')
  return `${font.familyName} ${font.subfamilyName}`
}

function openFont(content: Uint8Array): Font {
  checkPacking(Buffer.from(content.buffer, content.byteOffset, content.byteLength))
  const font = create(Buffer.from(content))
  if (font.isCollection) throw new Error('it has several faces')
  if (!(font.unitsPerEm >= 16 && font.unitsPerEm <= 16_384)) throw new Error('its units per em are not 16 to 16384')
  return font
}

/** Refuses WOFF2 files, and WOFF files whose unpacked size is too large. */
function checkPacking(file: Buffer): void {
  const type = file.toString('latin1', 0, 4)
  if (type === 'wOF2') throw new Error('it is WOFF2')
  if (type !== 'wOFF' || file.length < 44) return
  let bytes = 0
  // WOFF 1.0, sections 3 and 4: a header of 44 bytes, then 20 bytes per table, with the unpacked length at offset 12.
  for (let table = 0; table < file.readUInt16BE(12); table++) {
    const at = 44 + 20 * table + 12
    if (at + 4 > file.length) throw new Error('it is cut off')
    bytes += file.readUInt32BE(at)
  }
  if (bytes > MOST_UNPACKED) throw new Error(`it unpacks to ${bytes} bytes, and ${MOST_UNPACKED} is the most`)
}

/** Glyphs of code points, each from the first file that contains it. */
export function drawGlyphs(files: readonly Uint8Array[], start: number, count: number): DrawnGlyphs {
  const drawn = new Map<number, Uint8Array>()
  for (const file of files) {
    const font = openFont(file)
    const ascender = Math.ceil((ascentOf(font) * SIZE) / font.unitsPerEm)
    for (let code = start; code < start + count; code++)
      if (!drawn.has(code) && font.hasGlyphForCodePoint(code)) drawn.set(code, drawGlyph(font, code, ascender))
  }
  return drawn
}

/** A glyph as a message of proto/glyphs.proto (https://github.com/mapbox/node-fontnik). A damaged glyph is empty. */
function drawGlyph(font: Font, code: number, ascender: number): Uint8Array {
  const glyph = font.glyphForCodePoint(code)
  const scale = SIZE / font.unitsPerEm
  const field = drawField(ringsOf(commandsOf(glyph), scale))
  const pbf = new PbfWriter()
  pbf.writeVarintField(1, code)
  if (field) pbf.writeBytesField(2, field.field)
  pbf.writeVarintField(3, field?.width ?? 0)
  pbf.writeVarintField(4, field?.height ?? 0)
  pbf.writeSVarintField(5, field?.left ?? 0)
  pbf.writeSVarintField(6, (field?.top ?? 0) - ascender)
  pbf.writeVarintField(
    7,
    Math.min(MOST_ADVANCE, Math.max(0, Math.floor(Math.round(glyph.advanceWidth * scale * 64) / 64) || 0)),
  )
  return pbf.finish()
}

function commandsOf(glyph: Glyph) {
  try {
    return glyph.path.commands
  } catch {
    return []
  }
}

/** Height of a line above its baseline, as FreeType computes it. */
function ascentOf(font: Font): number {
  const os2 = font['OS/2'] as Font['OS/2'] | undefined
  if (os2?.fsSelection.useTypoMetrics) return os2.typoAscender
  return font.ascent || os2?.typoAscender || os2?.winAscent || font.unitsPerEm
}
