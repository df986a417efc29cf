/** A closed ring of an outline: x and y in turn, in pixels, y upward; the first point is repeated at the end. */
export type Ring = readonly number[]

/** A glyph as a signed distance field. */
export interface GlyphField {
  /** Without the border of {@link BORDER} pixels that the field has on each side. */
  readonly width: number
  readonly height: number
  readonly left: number
  readonly top: number
  /** Rows from the top; 191 at the outline, and 32 more for each pixel towards the inside. */
  readonly field: Uint8Array
}

/** Pixels around a glyph, as MapLibre expects them. */
const BORDER = 3
/** Largest distance in pixels that the field holds. */
const RADIUS = 8
/** One more than the value at the outline. */
const OUTLINE = 192
/** Maximum pixels of a side; a usual glyph of 24 pixels is far below. */
const MOST_SIDE = 256
/** Maximum pixels of all segments of a glyph, some 500 times those of a Chinese character. */
const MOST_WORK = 4_000_000

/** Draws a glyph. Null when it has no area, is too large, or would take too much work. */
export function drawField(rings: readonly Ring[]): GlyphField | null {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const ring of rings)
    for (let i = 0; i < ring.length; i += 2) {
      minX = Math.min(minX, ring[i]!)
      maxX = Math.max(maxX, ring[i]!)
      minY = Math.min(minY, ring[i + 1]!)
      maxY = Math.max(maxY, ring[i + 1]!)
    }
  const [left, bottom] = [Math.round(minX), Math.round(minY)]
  const [width, height] = [Math.round(maxX) - left, Math.round(maxY) - bottom]
  if (!(width > 0 && height > 0 && width <= MOST_SIDE && height <= MOST_SIDE)) return null
  const grid = new Grid(width + 2 * BORDER, height + 2 * BORDER)
  for (const ring of rings)
    for (let i = 0; i + 3 < ring.length; i += 2) {
      const [x1, y1, x2, y2] = [ring[i]! - left, ring[i + 1]! - bottom, ring[i + 2]! - left, ring[i + 3]! - bottom]
      if (!grid.add(x1 + BORDER, y1 + BORDER, x2 + BORDER, y2 + BORDER)) return null
    }
  return { width, height, left, top: bottom + height, field: grid.field() }
}

/** Distances to the segments, and the winding number of each pixel. */
class Grid {
  readonly #width: number
  readonly #height: number
  readonly #squares: Float64Array
  readonly #windings: Int32Array
  #work = 0

  constructor(width: number, height: number) {
    this.#width = width
    this.#height = height
    this.#squares = new Float64Array(width * height).fill(RADIUS * RADIUS)
    this.#windings = new Int32Array(width * height)
  }

  /** Adds a segment; false when the glyph takes too much work. */
  add(x1: number, y1: number, x2: number, y2: number): boolean {
    const fromX = Math.max(0, Math.floor(Math.min(x1, x2) - RADIUS))
    const toX = Math.min(this.#width, Math.ceil(Math.max(x1, x2) + RADIUS))
    const fromY = Math.max(0, Math.floor(Math.min(y1, y2) - RADIUS))
    const toY = Math.min(this.#height, Math.ceil(Math.max(y1, y2) + RADIUS))
    this.#work += (toX - fromX) * (toY - fromY)
    if (this.#work > MOST_WORK) return false
    const [dx, dy] = [x2 - x1, y2 - y1]
    const square = dx * dx + dy * dy
    for (let row = fromY; row < toY; row++) {
      const y = row + 0.5
      for (let column = fromX; column < toX; column++) {
        const x = column + 0.5
        const along = square === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / square))
        const [offX, offY] = [x1 + along * dx - x, y1 + along * dy - y]
        const at = row * this.#width + column
        this.#squares[at] = Math.min(this.#squares[at]!, offX * offX + offY * offY)
      }
      if (y1 <= y !== y2 <= y) this.#wind(row, x1 + ((y - y1) / dy) * dx, dy > 0 ? 1 : -1)
    }
    return true
  }

  #wind(row: number, crossing: number, turn: number): void {
    const end = row * this.#width + Math.min(this.#width, Math.ceil(crossing - 0.5))
    for (let at = row * this.#width; at < end; at++) this.#windings[at]! += turn
  }

  field(): Uint8Array {
    const field = new Uint8Array(this.#width * this.#height)
    for (let row = 0; row < this.#height; row++)
      for (let column = 0; column < this.#width; column++) {
        const at = row * this.#width + column
        const distance = Math.sqrt(this.#squares[at]!) * (256 / RADIUS)
        const value = OUTLINE + (this.#windings[at] === 0 ? -distance : distance)
        field[(this.#height - 1 - row) * this.#width + column] = Math.min(255, Math.max(0, Math.ceil(value) - 1))
      }
    return field
  }
}
