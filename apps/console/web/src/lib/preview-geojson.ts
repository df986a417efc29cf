/** Reference systems with longitudes and latitudes as positions. */
const DEGREES = /CRS84|EPSG:{1,2}4326/i

/**
 * The first features in a part of a GeoJSON text: those of a collection, or one per line. Empty
 * when the positions are not degrees.
 *
 * @example
 * ```ts
 * featuresIn('{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[6,50]}},{"ty', 10).length // 1
 * ```
 */
export function featuresIn(text: string, most: number): readonly GeoJSON.Feature[] {
  const list = /"features"\s*:\s*\[/.exec(text)
  const crs = /"crs"\s{0,9}:\s{0,9}\{[^{}]{0,200}\{[^{}]{0,200}\}/.exec(text.slice(0, list?.index ?? 0))
  if (crs && !DEGREES.test(crs[0])) return []
  const found: GeoJSON.Feature[] = []
  for (const part of objectsIn(text, list ? list.index + list[0].length : 0)) {
    const feature = readFeature(part)
    if (feature) found.push(feature)
    if (found.length === most) break
  }
  return found
}

/** Texts of consecutive objects, up to the first incomplete one or the end of their list. */
function* objectsIn(text: string, from: number): Generator<string> {
  let depth = 0
  let start = from
  for (let i = from; i < text.length; i++) {
    switch (text.codePointAt(i)) {
      case 0x22:
        i = endOfString(text, i)
        break
      case 0x7b:
        if (depth === 0) start = i
        depth++
        break
      case 0x7d:
        depth--
        if (depth === 0) yield text.slice(start, i + 1)
        break
      case 0x5d:
        if (depth === 0) return
        break
      default:
    }
  }
}

/** Index of the quote that ends a string; the length of the text when there is none. */
function endOfString(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i
  }
  return text.length
}

/** A feature with its plain properties; null for a geometry that a map cannot draw. */
function readFeature(text: string): GeoJSON.Feature | null {
  try {
    const { type, geometry, properties } = JSON.parse(text) as Partial<GeoJSON.Feature>
    if (type !== 'Feature' || !geometry || geometry.type === 'GeometryCollection') return null
    const { type: kind, coordinates } = geometry
    if (!isNested(coordinates, DEPTHS.get(kind))) return null
    return { type, properties: plain(properties), geometry: { type: kind, coordinates } as GeoJSON.Geometry }
  } catch {
    return null
  }
}

/** Properties without objects and arrays, which a preview does not show. */
function plain(properties: unknown): GeoJSON.GeoJsonProperties {
  return Object.fromEntries(Object.entries(Object(properties)).filter(([, value]) => Object(value) !== value))
}

/** Nesting depth of the positions of a geometry. */
const DEPTHS: ReadonlyMap<string, number> = new Map([
  ['Point', 0],
  ['MultiPoint', 1],
  ['LineString', 1],
  ['MultiLineString', 2],
  ['Polygon', 2],
  ['MultiPolygon', 3],
])

/** Whether coordinates are positions in degrees with this nesting depth. */
function isNested(at: unknown, depth: number | undefined): boolean {
  if (!Array.isArray(at) || depth === undefined) return false
  if (depth > 0) return at.length > 0 && at.every((inner) => isNested(inner, depth - 1))
  const [lng, lat] = at as unknown[]
  return typeof lng === 'number' && typeof lat === 'number' && Math.abs(lng) <= 180 && Math.abs(lat) <= 90
}
