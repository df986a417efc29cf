import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { LRUCache } from 'lru-cache'
import { PbfWriter } from 'pbf'
import { badGlyphs } from './errors.ts'
import type { DrawnGlyphs } from './glyph-drawing.ts'
import type { DrawingProcess } from './drawing-process.ts'

/** A font whose glyphs can be made. */
export interface Font {
  /** Hash that identifies the content. */
  readonly id: string
  /** Font files that complement each other. */
  readonly files: () => Promise<readonly Uint8Array[]>
}

/** Files of Noto Sans by script, as `@fontsource/noto-sans` has them under the SIL Open Font License 1.1. */
const SCRIPTS = ['latin', 'latin-ext', 'greek', 'greek-ext', 'cyrillic', 'cyrillic-ext', 'vietnamese', 'devanagari']
const CUTS = { Regular: '400-normal', Italic: '400-italic', Bold: '700-normal', 'Bold Italic': '700-italic' }

/** Fonts that come with the origin. */
export const BUILT_IN_FONTS: ReadonlyMap<string, Font> = new Map(
  Object.entries(CUTS).map(([name, cut]) => [
    `Noto Sans ${name}`,
    { id: `noto-sans ${cut}`, files: () => Promise.all(SCRIPTS.map((script) => builtInFile(script, cut))) },
  ]),
)

/** Code points per range. */
const RANGE = 256
const LAST = 65_535
const CACHE_BYTES = 32 * 1024 * 1024

/** First code point of a range by its file name, `0-255.pbf`. @throws BAD_RANGE */
export function rangeStart(file: string): number {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})\.pbf$/.exec(file) ?? []
  const start = Number(from)
  if (from === undefined || start % RANGE !== 0 || Number(to) !== start + RANGE - 1 || start + RANGE - 1 > LAST)
    throw badGlyphs(file)
  return start
}

interface RangeOfFont {
  readonly font: Font
  readonly start: number
}

/** Makes glyphs as signed distance fields, 24 pixels high, for MapLibre. */
export class Glyphs {
  readonly #drawing: DrawingProcess
  readonly #made = new LRUCache<string, DrawnGlyphs, RangeOfFont>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (glyphs, key) =>
      [...glyphs.values()].reduce((sum, { length }) => sum + length + 100, 2 * key.length + 200),
    fetchMethod: (key, _stale, { context }) => this.#draw(key, context),
  })

  constructor(drawing: DrawingProcess) {
    this.#drawing = drawing
  }

  /** Name of the face in a font file, `Noto Sans Bold`. @throws BAD_MAP_FILE, MAP_FILE_TOO_COSTLY */
  faceName(content: Uint8Array): Promise<string> {
    return this.#drawing.call('faceName', content)
  }

  /** Glyphs, each from the first font of the stack that contains it. @throws BAD_MAP_FILE, MAP_FILE_TOO_COSTLY */
  async range(name: string, stack: readonly Font[], start: number): Promise<Buffer> {
    const glyphs = new Map<number, Uint8Array>()
    for (const font of stack) {
      const made = await this.#made.forceFetch(`${font.id} ${start}`, { context: { font, start } })
      for (const [code, glyph] of made) if (!glyphs.has(code)) glyphs.set(code, glyph)
    }
    const pbf = new PbfWriter()
    pbf.writeMessage(1, writeStack, { name, range: `${start}-${start + RANGE - 1}`, glyphs })
    return Buffer.from(pbf.finish())
  }

  async #draw(key: string, { font, start }: RangeOfFont): Promise<DrawnGlyphs> {
    return this.#drawing.call('drawGlyphs', { files: await font.files(), start, count: RANGE }, key)
  }
}

/** A font stack (https://github.com/mapbox/node-fontnik, proto/glyphs.proto). */
function writeStack(
  { name, range, glyphs }: { readonly name: string; readonly range: string; readonly glyphs: DrawnGlyphs },
  pbf: PbfWriter,
): void {
  pbf.writeStringField(1, name)
  pbf.writeStringField(2, range)
  for (const [, glyph] of [...glyphs].toSorted(([a], [b]) => a - b)) pbf.writeBytesField(3, glyph)
}

function builtInFile(script: string, cut: string): Promise<Uint8Array> {
  return readFile(fileURLToPath(import.meta.resolve(`@fontsource/noto-sans/files/noto-sans-${script}-${cut}.woff`)))
}
