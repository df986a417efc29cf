import { Path, twiceArea } from '@terrane/core'
import { LINE, POLYGON } from '../features/shape.ts'
import type { Shape } from '../features/shape.ts'
import type { Bits } from '../geometry/junctions.ts'
import { VertexRanker } from '../geometry/rank-vertices.ts'
import { unitAt } from '../world.ts'
import type { Slicer } from './slicer.ts'

/**
 * Area in square tile units below which polygons are merged into squares of this area, below the highest zoom: three
 * eighths of a pixel wide in a tile that is drawn 512 pixels wide.
 */
const TINY_SIDE = 3
const TINY_AREA = TINY_SIDE * TINY_SIDE

export interface CutterOptions {
  readonly minZoom: number
  readonly maxZoom: number
  /** Tolerance of simplification in tile units. */
  readonly tolerance: number
  readonly isJunction: Bits
}

/**
 * Shows each line and polygon at each zoom: it is simplified, rounded to the grid of the zoom and cut into tiles.
 *
 * Below the highest zoom lines shorter than a unit vanish, and tiny polygons are gathered into pixel squares so that
 * their density stays visible. At the highest zoom every feature is shown, if necessary as a mark of one unit. Features
 * must be sorted by their place. Not re-entrant.
 */
export class FeatureCutter {
  readonly #options: CutterOptions
  readonly #slicer: Slicer
  readonly #ranker = new VertexRanker()
  readonly #path = new Path()
  /** Vertices that remain at the current zoom, part by part; `#ends[part]` is the end of a part. */
  #selection = new Int32Array(1 << 10)
  #ends = new Int32Array(1 << 6)
  /** Longer side of a line's bounds, or area of a ring, in world units. */
  #sizes = new Float64Array(1 << 6)
  /** Area of tiny polygons that is not yet shown as a square, in square tile units per zoom. */
  readonly #dust: Float64Array

  constructor(options: CutterOptions, slicer: Slicer) {
    this.#options = options
    this.#slicer = slicer
    this.#dust = new Float64Array(options.maxZoom + 1)
  }

  /**
   * Shows one feature at all zooms.
   *
   * @param address address that the fragments refer to
   * @param vertexOffset number of vertices of lines and polygons in the records before it
   */
  cut(shape: Shape, address: number, vertexOffset: number): void {
    const { maxZoom, tolerance, isJunction } = this.#options
    this.#ranker.rank(shape, isJunction, vertexOffset, (tolerance * unitAt(maxZoom)) ** 2)
    this.#selectAll(shape)
    if (shape.kind === LINE) this.#cutLines(shape, address)
    else this.#cutPolygons(shape, address)
  }

  #cutLines(shape: Shape, address: number): void {
    const { minZoom, maxZoom } = this.#options
    for (let zoom = maxZoom; zoom >= minZoom; zoom--) {
      const unit = unitAt(zoom)
      const least = zoom === maxZoom ? 0 : unit
      const visible = this.#select(shape, unit, (part) => this.#sizes[part]! >= least)
      if (!visible) return
      const shown = this.#slice(shape, zoom, address)
      if (zoom === maxZoom && shown === 0) this.#mark(shape, zoom, address, 1)
    }
  }

  #cutPolygons(shape: Shape, address: number): void {
    const { minZoom, maxZoom } = this.#options
    for (let zoom = maxZoom; zoom >= minZoom; zoom--) {
      const unit = unitAt(zoom)
      const least = zoom === maxZoom ? 0 : TINY_AREA * unit * unit
      let outerIsVisible = false
      let dust = 0
      const visible = this.#select(shape, unit, (part) => {
        const isLarge = this.#sizes[part]! >= least
        if (shape.holes[part] === 1) return outerIsVisible && isLarge
        outerIsVisible = isLarge
        if (!isLarge) dust += this.#sizes[part]!
        return isLarge
      })
      const shown = visible ? this.#slice(shape, zoom, address) : 0
      if (zoom === maxZoom && shown === 0) this.#mark(shape, zoom, address, 1)
      if (dust > 0) this.#gather(shape, zoom, address, dust / (unit * unit))
    }
  }

  /** Adds tiny area at a zoom. When it fills a square, the current feature is shown as that square. */
  #gather(shape: Shape, zoom: number, address: number, area: number): void {
    const gathered = this.#dust[zoom]! + area
    this.#dust[zoom] = gathered % TINY_AREA
    if (gathered >= TINY_AREA) this.#mark(shape, zoom, address, TINY_SIDE)
  }

  #selectAll(shape: Shape): void {
    if (this.#selection.length < shape.size) this.#selection = new Int32Array(shape.size * 2)
    if (this.#ends.length < shape.parts) {
      this.#ends = new Int32Array(shape.parts * 2)
      this.#sizes = new Float64Array(shape.parts * 2)
    }
    for (let i = 0; i < shape.size; i++) this.#selection[i] = i
    for (let part = 0; part < shape.parts; part++) {
      this.#ends[part] = shape.ends[part]!
      this.#sizes[part] = shape.kind === LINE ? spanOf(shape, part) : areaOf(shape, part)
    }
  }

  /**
   * Reduces the selection to the vertices that are visible at a size of tile units, in visible parts; false when none
   * are left.
   */
  #select(shape: Shape, unit: number, isVisible: (part: number) => boolean): boolean {
    const tolerated = (this.#options.tolerance * unit) ** 2
    const { ranks } = this.#ranker
    const selection = this.#selection
    let kept = 0
    let i = 0
    for (let part = 0; part < shape.parts; part++) {
      const end = this.#ends[part]!
      if (isVisible(part)) {
        for (; i < end; i++) {
          const vertex = selection[i]!
          if (ranks[vertex]! > tolerated) selection[kept++] = vertex
        }
      }
      i = end
      this.#ends[part] = kept
    }
    return kept > 0
  }

  /** Rounds the selection to the grid of a zoom and cuts it into tiles. */
  #slice(shape: Shape, zoom: number, address: number): number {
    const path = this.#path
    const scale = 1 / unitAt(zoom)
    const least = shape.kind === POLYGON ? 3 : 2
    path.clear()
    let i = 0
    let hasOuter = false
    for (let part = 0; part < shape.parts; part++) {
      const end = this.#ends[part]!
      path.ensure(end - i)
      const xy = path.xy
      const start = path.length
      let at = start
      for (; i < end; i++) {
        const vertex = 2 * this.#selection[i]!
        const x = Math.floor(shape.xy[vertex]! * scale + 0.5)
        const y = Math.floor(shape.xy[vertex + 1]! * scale + 0.5)
        if (at > start && xy[at - 2] === x && xy[at - 1] === y) continue
        xy[at++] = x
        xy[at++] = y
      }
      const isHole = shape.holes[part]!
      // Holes of a collapsed ring are removed with it.
      path.length = isHole === 1 && !hasOuter ? start : at
      path.endPart(isHole, least)
      if (isHole === 0) hasOuter = path.length > start
    }
    if (path.parts === 0) return 0
    path.measure()
    return this.#slicer.slice(path, shape.kind, zoom, address)
  }

  /** Shows a feature as a square, or a horizontal line, of the given side at the middle of its first part. */
  #mark(shape: Shape, zoom: number, address: number, side: number): void {
    const path = this.#path
    const unit = unitAt(zoom)
    const [x, y] = middleOf(shape)
    const left = round(x, unit)
    const top = round(y, unit)
    path.clear()
    path.push(left, top)
    path.push(left + side, top)
    if (shape.kind === POLYGON) {
      path.push(left + side, top + side)
      path.push(left, top + side)
    }
    path.endPart(0, 2)
    path.measure()
    this.#slicer.slice(path, shape.kind, zoom, address)
  }
}

function round(coordinate: number, unit: number): number {
  return Math.floor(coordinate / unit + 0.5)
}

function boundsOf(shape: Shape, part: number): [number, number, number, number] {
  const { xy } = shape
  const end = 2 * shape.ends[part]!
  let i = 2 * shape.startOf(part)
  let minX = xy[i]!
  let maxX = minX
  let minY = xy[i + 1]!
  let maxY = minY
  for (i += 2; i < end; i += 2) {
    const x = xy[i]!
    const y = xy[i + 1]!
    if (x < minX) minX = x
    else if (x > maxX) maxX = x
    if (y < minY) minY = y
    else if (y > maxY) maxY = y
  }
  return [minX, minY, maxX, maxY]
}

function spanOf(shape: Shape, part: number): number {
  const [minX, minY, maxX, maxY] = boundsOf(shape, part)
  return Math.max(maxX - minX, maxY - minY)
}

function areaOf(shape: Shape, part: number): number {
  return Math.abs(twiceArea(shape.xy, shape.startOf(part), shape.ends[part]!)) / 2
}

function middleOf(shape: Shape): [number, number] {
  const [minX, minY, maxX, maxY] = boundsOf(shape, 0)
  return [(minX + maxX) / 2, (minY + maxY) / 2]
}
