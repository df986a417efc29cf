import { bearingDegrees, distanceMeters } from './geodesy.ts'
import { roundAway } from './round-away.ts'

/** A line that grows: longitudes and latitudes in degrees. */
export interface Line {
  readonly lon: number[]
  readonly lat: number[]
}

/** A point in degrees. */
export interface Point {
  readonly lon: number
  readonly lat: number
}

/**
 * Cuts a line to the part between two distances along it, and sets its ends to the given points. The line need not
 * contain these points. The result has at least two points.
 */
export function cutLine(line: Line, begin: { meters: number; at: Point }, end: { meters: number; at: Point }): Line {
  let first = 0
  for (let along = 0; first < line.lon.length - 1 && along <= begin.meters; first++) along += partMeters(line, first)
  first = Math.max(0, first - 1)
  const lon = [begin.at.lon, ...line.lon.slice(first + 1)]
  const lat = [begin.at.lat, ...line.lat.slice(first + 1)]
  let last = 0
  for (let along = begin.meters; last < lon.length - 1 && along <= end.meters; last++)
    along += partMeters({ lon, lat }, last)
  return { lon: [...lon.slice(0, last), end.at.lon], lat: [...lat.slice(0, last), end.at.lat] }
}

function partMeters({ lon, lat }: Line, i: number): number {
  return distanceMeters(lon[i]!, lat[i]!, lon[i + 1]!, lat[i + 1]!)
}

/** Heading at the beginning of a part of a line, towards the point `meters` along it, in degrees. */
export function headingAtBegin(line: Line, first: number, last: number, meters: number): number {
  const { lon, lat } = pointAfter(line, first, last, meters)
  return bearingDegrees(line.lon[first]!, line.lat[first]!, lon, lat)
}

/** Heading at the end of a part of a line, from the point `meters` before the end, in degrees. */
export function headingAtEnd(line: Line, first: number, last: number, meters: number): number {
  const { lon, lat } = pointAfter(line, last, first, meters)
  return bearingDegrees(lon, lat, line.lon[last]!, line.lat[last]!)
}

/** The point `meters` along a line from one of its points towards another, or that other point if it is nearer. */
function pointAfter({ lon, lat }: Line, from: number, to: number, meters: number): Point {
  const step = Math.sign(to - from)
  let walked = 0
  for (let i = from; i !== to && Math.abs(to - from) > 1; i += step) {
    const part = distanceMeters(lon[i]!, lat[i]!, lon[i + step]!, lat[i + step]!)
    if (walked + part > meters) {
      const share = (meters - walked) / part
      return { lon: lon[i]! + (lon[i + step]! - lon[i]!) * share, lat: lat[i]! + (lat[i + step]! - lat[i]!) * share }
    }
    walked += part
  }
  return { lon: lon[to]!, lat: lat[to]! }
}

/** Encodes a line as text with six decimals, or five (the polyline algorithm of Google Maps). */
export function encodeLine({ lon, lat }: Line, decimals: 5 | 6 = 6): string {
  const scale = decimals === 6 ? 1e6 : 1e5
  const codes: number[] = []
  let x = 0
  let y = 0
  for (let i = 0; i < lon.length; i++) {
    const nextY = roundAway(lat[i]! * scale)
    const nextX = roundAway(lon[i]! * scale)
    encodeNumber(codes, nextY - y)
    encodeNumber(codes, nextX - x)
    y = nextY
    x = nextX
  }
  let text = ''
  for (let i = 0; i < codes.length; i += 8192) text += String.fromCharCode(...codes.slice(i, i + 8192))
  return text
}

function encodeNumber(codes: number[], value: number): void {
  let rest = value < 0 ? -2 * value - 1 : 2 * value
  while (rest >= 32) {
    codes.push((rest % 32) + 32 + 63)
    rest = Math.floor(rest / 32)
  }
  codes.push(rest + 63)
}

/** Decodes a line with six decimals or five; an incomplete number at the end is ignored. */
export function decodeLine(text: string, decimals: 5 | 6): Line {
  const scale = decimals === 6 ? 1e6 : 1e5
  const line: Line = { lon: [], lat: [] }
  const sums = [0, 0]
  let axis = 0
  let [value, factor] = [0, 1]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i) - 63
    value += (code & 31) * factor
    factor *= 32
    if (code >= 32) continue
    sums[axis]! += value % 2 === 1 ? -(value + 1) / 2 : value / 2
    if (axis === 1) {
      line.lat.push(sums[0]! / scale)
      line.lon.push(sums[1]! / scale)
    }
    axis = 1 - axis
    value = 0
    factor = 1
  }
  return line
}
