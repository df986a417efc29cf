import type { Aoi } from '@terrane/core'
import type { AreaAssembler } from '../area/assemble.ts'
import { UNITS_PER_DEGREE } from '../block.ts'

/** Points as lines: the common part of a feature and the result of the assembler. */
interface Lines {
  readonly lon: Int32Array
  readonly lat: Int32Array
  readonly lineStart: Int32Array
  readonly lines: number
}

/** True when a point lies in the area of interest, or without an area of interest. */
export function touchesPoint(aoi: Aoi | null, lon: number, lat: number): boolean {
  return aoi === null || aoi.containsPoint(lon / UNITS_PER_DEGREE, lat / UNITS_PER_DEGREE)
}

/** True when one of the lines has a point in common with the area of interest. */
export function touchesLines(aoi: Aoi | null, lines: Lines): boolean {
  if (aoi === null) return true
  const relation = relate(aoi, lines.lon, lines.lat, lines.lineStart[lines.lines]!)
  return relation === 'inside' || (relation === 'crossing' && meets(aoi, lines))
}

/** True when the polygons have a point in common with the area of interest. */
export function touchesArea(aoi: Aoi | null, area: AreaAssembler): boolean {
  if (aoi === null) return true
  const { lon, lat, ringStart, polygonStart, polygonCount } = area
  const rings = { lon, lat, lineStart: ringStart, lines: polygonStart[polygonCount]! }
  const relation = relate(aoi, lon, lat, ringStart[rings.lines]!)
  if (relation !== 'crossing') return relation === 'inside'
  if (meets(aoi, rings)) return true
  // No borders meet, so the area of interest lies completely within the polygons, or outside.
  for (const [x, y] of aoi.borderPoints()) if (contains(rings, x * UNITS_PER_DEGREE, y * UNITS_PER_DEGREE)) return true
  return false
}

function relate(aoi: Aoi, lon: Int32Array, lat: Int32Array, count: number): 'outside' | 'inside' | 'crossing' {
  let west = lon[0]!
  let east = west
  let south = lat[0]!
  let north = south
  for (let i = 1; i < count; i++) {
    const x = lon[i]!
    const y = lat[i]!
    if (x < west) west = x
    else if (x > east) east = x
    if (y < south) south = y
    else if (y > north) north = y
  }
  return aoi.relateBox(
    west / UNITS_PER_DEGREE,
    south / UNITS_PER_DEGREE,
    east / UNITS_PER_DEGREE,
    north / UNITS_PER_DEGREE,
  )
}

function meets(aoi: Aoi, { lon, lat, lineStart, lines }: Lines): boolean {
  for (let line = 0; line < lines; line++) {
    for (let i = lineStart[line]! + 1; i < lineStart[line + 1]!; i++) {
      const touching = aoi.touchesSegment(
        lon[i - 1]! / UNITS_PER_DEGREE,
        lat[i - 1]! / UNITS_PER_DEGREE,
        lon[i]! / UNITS_PER_DEGREE,
        lat[i]! / UNITS_PER_DEGREE,
      )
      if (touching) return true
    }
  }
  return false
}

/** Even-odd test of a point against rings. */
function contains({ lon, lat, lineStart, lines }: Lines, x: number, y: number): boolean {
  let inside = false
  for (let line = 0; line < lines; line++) {
    for (let i = lineStart[line]! + 1; i < lineStart[line + 1]!; i++) {
      const ay = lat[i - 1]!
      const by = lat[i]!
      if (ay > y === by > y) continue
      const ax = lon[i - 1]!
      if (x < ((lon[i]! - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
    }
  }
  return inside
}
