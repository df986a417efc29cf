import type { Graph } from '../graph/graph.ts'
import type { ToldLeg } from './trip.ts'

/**
 * A route as GPX 1.1: its line as way points, and a route with a point at the beginning of each way, with the id of the
 * way. The note, plain text without markup, becomes the description.
 */
export function gpxOf({ edgeShape, shapeWay }: Graph, legs: readonly ToldLeg[], note = ''): string {
  const metadata = note === '' ? '<metadata/>' : `<metadata><desc>${note}</desc></metadata>`
  const points = legs.flatMap(({ guided: { line } }) =>
    line.lon.map((lon, i) => `<wpt lon="${six(lon)}" lat="${six(line.lat[i]!)}"></wpt>`),
  )
  const route = legs.flatMap(({ guided: { line, steps } }) => {
    const point = (at: number, edge: number): string =>
      `<rtept lon="${six(line.lon[at]!)}" lat="${six(line.lat[at]!)}">` +
      `<name>${shapeWay[edgeShape[edge]!]!}</name></rtept>`
    const last = steps.at(-1)!
    return [...steps.map(({ beginShape, edge }) => point(beginShape, edge)), point(last.endShape, last.edge)]
  })
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>' +
    '<gpx version="1.1" creator="Terrane" xmlns="http://www.topografix.com/GPX/1/1">' +
    `${metadata}${points.join('')}<rte>${route.join('')}</rte></gpx>`
  )
}

/** Six decimals, rounded as in polylines. */
function six(degrees: number): string {
  return (Math.round(degrees * 1e6) / 1e6).toFixed(6)
}
