import { AreaAssembler } from '../area/assemble.ts'
import { AREA, POINT } from '../features/feature.ts'
import type { OsmFeature } from '../features/feature.ts'
import { growInt32 } from '../grow.ts'
import { METRES_PER_UNIT, areaOf, lengthOf } from './measure.ts'
import { keptPoints } from './simplify.ts'
import type { GeneralizedTable } from './style.ts'

/** Input from which a row is drawn. */
export type Shape = Pick<OsmFeature, 'geometry' | 'lon' | 'lat' | 'lineStart' | 'lines' | 'area'>

/** Maximum number of halvings of the tolerance when rings cross; after them the area stays unchanged. */
const MOST_HALVINGS = 4

/** Simplifies features. Not re-entrant: a result is valid until the next one. */
export class Generalizer {
  readonly #tolerance: number
  readonly #minLength: number
  readonly #minArea: number
  readonly #area = new AreaAssembler()
  /** Features that stayed unchanged because simplifying them would take too long. */
  unsimplified = 0
  #lon = new Int32Array(256)
  #lat = new Int32Array(256)
  #lineStart = new Int32Array(16)

  constructor({ toleranceMetres = 0, minLengthMetres = 0, minAreaMetres2 = 0 }: GeneralizedTable) {
    this.#tolerance = toleranceMetres / METRES_PER_UNIT
    this.#minLength = minLengthMetres
    this.#minArea = minAreaMetres2
  }

  /** The simpler feature; null when it is too small. */
  shapeOf(feature: OsmFeature): Shape | null {
    if (feature.geometry === POINT) return feature
    if (feature.geometry === AREA) {
      if (this.#minArea > 0 && areaOf(feature.area) < this.#minArea) return null
      return this.#tolerance === 0 ? feature : this.#simplerArea(feature)
    }
    if (this.#minLength > 0 && lengthOf(feature) < this.#minLength) return null
    return this.#tolerance === 0 ? feature : this.#simplerLines(feature)
  }

  #simplerLines(feature: OsmFeature): Shape {
    const { geometry, lineStart, lines, area } = feature
    this.#lineStart = growInt32(this.#lineStart, lines + 1)
    let points = 0
    for (let line = 0; line < lines; line++) {
      const kept = keptPoints(feature, lineStart[line]!, lineStart[line + 1]!, this.#tolerance)
      if (kept === null) return this.#whole(feature)
      points = this.#put(feature, kept, points)
      this.#lineStart[line + 1] = points
    }
    return { geometry, lon: this.#lon, lat: this.#lat, lineStart: this.#lineStart, lines, area }
  }

  /** The polygons with simpler rings, valid again by the assembler; a polygon without an outer ring is left out. */
  #simplerArea(feature: OsmFeature): Shape | null {
    for (let halvings = 0, tolerance = this.#tolerance; halvings <= MOST_HALVINGS; halvings++, tolerance /= 2) {
      const isAny = this.#addRings(feature.area, tolerance)
      if (isAny === null) return this.#whole(feature)
      if (!isAny) return null
      if (this.#area.assemble() === null) return { ...shapeOf(feature), area: this.#area }
    }
    return feature
  }

  #whole(feature: OsmFeature): Shape {
    this.unsimplified++
    return feature
  }

  /** False when no ring is left; null when it would take too long. */
  #addRings(area: AreaAssembler, tolerance: number): boolean | null {
    const { ringStart, polygonStart, polygonCount } = area
    this.#area.start()
    let isAny = false
    for (let polygon = 0; polygon < polygonCount; polygon++) {
      for (let ring = polygonStart[polygon]!; ring < polygonStart[polygon + 1]!; ring++) {
        const kept = keptPoints(area, ringStart[ring]!, ringStart[ring + 1]!, tolerance)
        if (kept === null) return null
        const isOuter = ring === polygonStart[polygon]
        if (kept.length < 4) {
          if (isOuter) break
          continue
        }
        isAny = true
        this.#area.addLine(this.#lon, this.#lat, 0, this.#put(area, kept, 0))
      }
    }
    return isAny
  }

  /** Appends points at an offset; returns the offset behind them. */
  #put({ lon, lat }: Pick<OsmFeature, 'lon' | 'lat'>, kept: readonly number[], at: number): number {
    this.#lon = growInt32(this.#lon, at + kept.length)
    this.#lat = growInt32(this.#lat, at + kept.length)
    let to = at
    for (const i of kept) {
      this.#lon[to] = lon[i]!
      this.#lat[to++] = lat[i]!
    }
    return to
  }
}

function shapeOf({ geometry, lon, lat, lineStart, lines, area }: OsmFeature): Shape {
  return { geometry, lon, lat, lineStart, lines, area }
}
