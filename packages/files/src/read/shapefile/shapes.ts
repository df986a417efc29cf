import { WkbWriter } from '@terrane/core/wkb'
import { ringsIn, type Ring } from './rings.ts'
import { UnusualFile } from './unusual.ts'

/** Kinds of shapes without heights and measures. */
const NONE = 0
const POINT = 1
const LINE = 3
const AREA = 5
const POINTS = 8
const KNOWN = new Set([POINT, LINE, AREA, POINTS])

// Codes of WKB.
const WKB = { point: 1, line: 2, polygon: 3, points: 4, lines: 5, polygons: 6 } as const
/** Bytes of the kind and of a box. */
const BOX_END = 36
const POSITION_BYTES = 16

/** Whether shapes of this kind can be read here. */
export function isKnownKind(kind: number): boolean {
  return KNOWN.has(kind)
}

/** Makes ISO WKB of shapes (ESRI Shapefile Technical Description, 1998). */
export class ShapeReader {
  readonly #writer = new WkbWriter('xy')

  /**
   * @param bytes the content of a record
   * @returns null for a record without a shape
   * @throws UnusualFile for a shape with ambiguous parts
   */
  wkbOf(bytes: Buffer, kind: number): Uint8Array | null {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    if (view.byteLength < 4) throw new UnusualFile('a shape that is cut off')
    const own = view.getInt32(0, true)
    if (own === NONE) return null
    if (own !== kind) throw new UnusualFile('shapes of several kinds')
    if (kind === POINT) {
      need(view, 4 + POSITION_BYTES)
      this.#writer.head(WKB.point)
      this.#positions(view, 4, 1)
    } else if (kind === POINTS) this.#points(view)
    else this.#parts(view, kind)
    return this.#writer.take()
  }

  #points(view: DataView): void {
    need(view, BOX_END + 4)
    const count = countAt(view, BOX_END)
    need(view, BOX_END + 4 + count * POSITION_BYTES)
    this.#writer.head(WKB.points)
    this.#writer.count(count)
    for (let i = 0; i < count; i++) {
      this.#writer.head(WKB.point)
      this.#positions(view, BOX_END + 4 + i * POSITION_BYTES, 1)
    }
  }

  #parts(view: DataView, kind: number): void {
    need(view, BOX_END + 8)
    const parts = countAt(view, BOX_END)
    const points = countAt(view, BOX_END + 4)
    const starts = BOX_END + 8
    const first = starts + 4 * parts
    need(view, first + points * POSITION_BYTES)
    const rings: Ring[] = []
    for (let i = 0; i < parts; i++) {
      const from = view.getInt32(starts + 4 * i, true)
      const to = i + 1 < parts ? view.getInt32(starts + 4 * (i + 1), true) : points
      if (from < 0 || to <= from || to > points) throw new UnusualFile('a shape without points in a part')
      rings.push({ at: first + from * POSITION_BYTES, count: to - from })
    }
    if (kind === LINE) this.#lines(view, rings)
    else this.#polygons(view, ringsIn(view, rings))
  }

  #lines(view: DataView, lines: readonly Ring[]): void {
    if (lines.some(({ count }) => count < 2)) throw new UnusualFile('a line of one point')
    if (lines.length > 1) {
      this.#writer.head(WKB.lines)
      this.#writer.count(lines.length)
    }
    for (const line of lines) {
      this.#writer.head(WKB.line)
      this.#ring(view, line)
    }
  }

  #polygons(view: DataView, polygons: readonly (readonly Ring[])[]): void {
    if (polygons.length > 1) {
      this.#writer.head(WKB.polygons)
      this.#writer.count(polygons.length)
    }
    for (const rings of polygons) {
      this.#writer.head(WKB.polygon)
      this.#writer.count(rings.length)
      for (const ring of rings) this.#ring(view, ring)
    }
  }

  #ring(view: DataView, { at, count }: Ring): void {
    this.#writer.count(count)
    this.#positions(view, at, count)
  }

  #positions(view: DataView, at: number, count: number): void {
    for (let i = 0; i < count; i++, at += POSITION_BYTES) {
      const x = view.getFloat64(at, true)
      const y = view.getFloat64(at + 8, true)
      if (!Number.isFinite(x) || !Number.isFinite(y)) throw new UnusualFile('coordinates that are not finite')
      this.#writer.xy(x, y)
    }
  }
}

function countAt(view: DataView, at: number): number {
  const count = view.getInt32(at, true)
  if (count < 1) throw new UnusualFile('a shape without points')
  return count
}

function need(view: DataView, bytes: number): void {
  if (bytes > view.byteLength) throw new UnusualFile('a shape that is cut off')
}
