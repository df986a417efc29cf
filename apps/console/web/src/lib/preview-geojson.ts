/** Reference systems whose positions are longitudes and latitudes. */
const DEGREES = /CRS84|EPSG:{1,2}4326/i

/**
 * The features in a part of a GeoJSON text, at most so many: those of a collection, or one on each line. None where the
 * positions are not degrees.
 *
 * @example
 * ```ts
 * featuresIn('{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[6,50]}},{"ty', 10).length // 1
 * ```
 */
export function featuresIn(text: string, most: number): readonly GeoJSON.Feature[] {
  const list = /"features"\s*:\s*\[/.exec(text)
  const crs = /"crs"\s*:\s*\{[^}]*\{[^}]*\}/.exec(text.slice(0, list?.index ?? 0))
  if (crs && !DEGREES.test(crs[0])) return []
  const found: GeoJSON.Feature[] = []
  for (const part of objectsIn(text, list ? list.index + list[0].length : 0)) {
    const feature = readFeature(part)
    if (feature) found.push(feature)
    if (found.length === most) break
  }
  return found
}

/** Texts of the objects that follow each other, up to the first that is cut off or the end of their list. */
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

/** Place of the quote that ends a string; the end of the text where there is none. */
function endOfString(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i
  }
  return text.length
}

function readFeature(text: string): GeoJSON.Feature | null {
  try {
    const value = JSON.parse(text) as Partial<GeoJSON.Feature>
    const first = value.geometry && firstPosition(value.geometry)
    if (value.type !== 'Feature' || !first || Math.abs(first[0]!) > 180 || Math.abs(first[1]!) > 90) return null
    return value as GeoJSON.Feature
  } catch {
    return null
  }
}

function firstPosition(geometry: GeoJSON.Geometry): readonly number[] | null {
  let at: unknown = geometry.type === 'GeometryCollection' ? null : geometry.coordinates
  while (Array.isArray(at) && Array.isArray(at[0])) at = at[0]
  return Array.isArray(at) && Number.isFinite(at[0]) && Number.isFinite(at[1]) ? (at as number[]) : null
}
