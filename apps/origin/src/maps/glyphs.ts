// oxlint-disable-next-line typescript/triple-slash-reference -- Packages that import this one need the declaration, too.
/// <reference path="./fontnik.d.ts" />
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Face } from 'fontnik'
import { LRUCache } from 'lru-cache'
import { badGlyphs, badMapFile, noGlyphs } from './errors.ts'

/** A font whose glyphs can be made. */
export interface Font {
  /** Names the content. */
  readonly id: string
  /** Files whose glyphs complete each other. */
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

/** Glyphs of a range. */
const RANGE = 256
const LAST = 65_535
const CACHE_BYTES = 32 * 1024 * 1024
const HINT = 'Send a TrueType, OpenType or WOFF file with one face and of at most 6 MiB; WOFF2 is not read.'

/** First code point of a range by its file name, `0-255.pbf`. @throws BAD_RANGE */
export function rangeStart(file: string): number {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})\.pbf$/.exec(file) ?? []
  const start = Number(from)
  if (from === undefined || start % RANGE !== 0 || Number(to) !== start + RANGE - 1 || start + RANGE - 1 > LAST)
    throw badGlyphs(file)
  return start
}

/** Name of the face in a font file, `Noto Sans Bold`. @throws BAD_MAP_FILE, GLYPHS_UNAVAILABLE */
export async function faceName(content: Uint8Array): Promise<string> {
  const fontnik = await maker()
  const faces = await called<readonly Face[]>((done) => fontnik.load(Buffer.from(content), done)).catch(
    (error: unknown) => {
      throw badMapFile('font', error instanceof Error ? error.message : 'it cannot be read', HINT)
    },
  )
  const [face] = faces
  if (!face || faces.length > 1) throw badMapFile('font', `it has ${faces.length} faces`, HINT)
  return `${face.family_name} ${face.style_name}`
}

/** Makes glyphs of fonts as signed distance fields, 24 pixels high, as MapLibre takes them. */
export class Glyphs {
  readonly #made = new LRUCache<string, Buffer, { readonly font: Font; readonly start: number }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ byteLength }, key) => byteLength + 2 * key.length + 200,
    fetchMethod: (_key, _stale, { context: { font, start } }) => glyphsOf(font, start),
  })

  /**
   * Glyphs of a range: each from the first font of the stack that has it.
   *
   * @throws GLYPHS_UNAVAILABLE
   */
  async range(stack: readonly Font[], start: number): Promise<Buffer> {
    const made = await Promise.all(
      stack.map((font) => this.#made.forceFetch(`${font.id} ${start}`, { context: { font, start } })),
    )
    return joined(made)
  }
}

async function glyphsOf(font: Font, start: number): Promise<Buffer> {
  const fontnik = await maker()
  const ranges = []
  for (const file of await font.files()) {
    const asked = { font: Buffer.from(file), start, end: start + RANGE - 1 }
    ranges.push(await called<Buffer>((done) => fontnik.range(asked, done)))
  }
  return joined(ranges)
}

async function joined(ranges: readonly Buffer[]): Promise<Buffer> {
  if (ranges.length === 1) return ranges[0]!
  const fontnik = await maker()
  return called<Buffer>((done) => fontnik.composite(ranges, done))
}

function called<T>(call: (done: (error: Error | null, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => call((error, result) => (error ? reject(error) : resolve(result))))
}

/** The program is native and not there for every platform: an origin starts without it. @throws GLYPHS_UNAVAILABLE */
async function maker() {
  try {
    return (await import('fontnik')).default
  } catch {
    throw noGlyphs()
  }
}

function builtInFile(script: string, cut: string): Promise<Uint8Array> {
  return readFile(fileURLToPath(import.meta.resolve(`@fontsource/noto-sans/files/noto-sans-${script}-${cut}.woff`)))
}
