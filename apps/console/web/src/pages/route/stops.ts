/** A place of a route as entered: latitude and longitude in degrees, or empty. */
export interface Stop {
  readonly key: number
  readonly text: string
}

let made = 0

export function emptyStop(): Stop {
  return { key: made++, text: '' }
}

/** [lng, lat] of a stop; null while it is empty. */
export function readStop({ text }: Stop): [number, number] | null {
  const found = /^\s*([+-]?\d+(?:\.\d+)?)\s*[,;\s]\s*([+-]?\d+(?:\.\d+)?)\s*$/.exec(text)
  if (!found) return null
  const [lat, lng] = [Number(found[1]), Number(found[2])]
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? [lng, lat] : null
}

/** Problem of a stop's text; null for a valid place, and for a text that may become one. */
export function stopProblem(stop: Stop): string | null {
  const unfinished = /^\s*[+-]?[\d.]*\s*(?:[,;\s]\s*[+-]?(?:\d+\.)?)?$/.test(stop.text)
  return unfinished || readStop(stop) ? null : 'Latitude, longitude in degrees, such as 48.137, 11.575'
}

/** Six decimal digits are about a decimetre. */
export function stopText({ lng, lat }: { lng: number; lat: number }): string {
  const wrapped = ((((lng + 180) % 360) + 360) % 360) - 180
  return `${lat.toFixed(6)}, ${wrapped.toFixed(6)}`
}

/** The stops with a clicked place in the first empty one, or at the end. */
export function placed(stops: readonly Stop[], at: { lng: number; lat: number }): readonly Stop[] {
  const text = stopText(at)
  const empty = stops.findIndex((stop) => stop.text.trim() === '')
  if (empty < 0) return [...stops, { ...emptyStop(), text }]
  return stops.map((stop, i) => (i === empty ? { ...stop, text } : stop))
}

/** A, B, … Z, then numbers. */
export function stopName(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : String(index + 1)
}
