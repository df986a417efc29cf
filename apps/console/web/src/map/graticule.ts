/** West, south, east, north in degrees. */
export type Box = readonly [number, number, number, number]

const STEPS = [45, 30, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]
/** Latitude at which Web Mercator ends. */
const MAX_LAT = 85.05
/** Approximate number of parallels or meridians in a view. */
const WANTED = 7

/**
 * Meridians and parallels for a view, with labels at its upper and left edge, because controls and attribution are at
 * the lower one.
 *
 * @param covers boxes of the view that a title or controls cover: labels there are placed beneath or beside them
 */
export function graticule([west, south, east, north]: Box, covers: readonly Box[] = []): GeoJSON.FeatureCollection {
  const width = Math.max(east - west, 1e-6)
  const step = STEPS.find((candidate) => width / candidate >= WANTED) ?? 0.001
  const features: GeoJSON.Feature[] = []
  const bottom = Math.max(south, -MAX_LAT)
  const top = Math.min(north, MAX_LAT)
  for (const lng of multiples(step, west, east)) {
    features.push(line([lng, bottom], [lng, top]))
    const at = uncovered([lng, top], covers, ([, lower]) => [lng, lower])
    if (at) features.push(label(at, degrees(wrap(lng), step, 'E', 'W'), 'top'))
  }
  for (const lat of multiples(step, bottom, top)) {
    features.push(line([west, lat], [east, lat]))
    const at = uncovered([west, lat], covers, ([, , right]) => [right, lat])
    if (at) features.push(label(at, degrees(lat, step, 'N', 'S'), 'left'))
  }
  return { type: 'FeatureCollection', features }
}

type Position = [lng: number, lat: number]

/** The position of a label, moved out of the box that covers it; null when another box covers the new one, too. */
function uncovered(at: Position, covers: readonly Box[], moved: (cover: Box) => Position): Position | null {
  const isIn = (box: Box, [lng, lat]: Position) => lng >= box[0] && lat >= box[1] && lng <= box[2] && lat <= box[3]
  const cover = covers.find((box) => isIn(box, at))
  if (!cover) return at
  const next = moved(cover)
  return covers.some((box) => box !== cover && isIn(box, next)) ? null : next
}

function multiples(step: number, from: number, to: number): number[] {
  const first = Math.ceil(from / step)
  const last = Math.floor(to / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step)
}

function wrap(lng: number): number {
  return ((((lng + 180) % 360) + 360) % 360) - 180
}

function degrees(value: number, step: number, positive: string, negative: string): string {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  const text = Math.abs(value).toFixed(digits)
  if (Number(text) === 0) return '0°'
  return `${text}°${value > 0 ? positive : negative}`
}

function line(a: [number, number], b: [number, number]): GeoJSON.Feature {
  return { type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: [a, b] } }
}

function label(at: [number, number], text: string, anchor: 'left' | 'top'): GeoJSON.Feature {
  return { type: 'Feature', properties: { text, anchor }, geometry: { type: 'Point', coordinates: at } }
}
