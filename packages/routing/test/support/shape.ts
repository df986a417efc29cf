/** The places of a polyline of six decimals, in degrees. */
export function decodeShape(text: string): [lon: number, lat: number][] {
  const places: [number, number][] = []
  let at = 0
  const next = (): number => {
    let value = 0
    let shift = 0
    for (;;) {
      const code = text.charCodeAt(at++) - 63
      value |= (code & 31) << shift
      shift += 5
      if (code < 32) return value & 1 ? ~(value >> 1) : value >> 1
    }
  }
  let lon = 0
  let lat = 0
  while (at < text.length) {
    lat += next()
    lon += next()
    places.push([lon / 1e6, lat / 1e6])
  }
  return places
}
