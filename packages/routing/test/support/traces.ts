import { seededRandom } from '@terrane/core'

import { distanceMeters } from '../../src/geometry/geodesy.ts'
import type { Line } from '../../src/geometry/polyline.ts'
import { type Mode, type Network, Router } from '../../src/index.ts'

/** A made trace: a route, and places along it at equal intervals with noise. */
export interface MadeTrace {
  readonly truth: Line
  readonly points: readonly { readonly lon: number; readonly lat: number; readonly time: number }[]
}

/** Parameters of traces: seconds between points, and the standard deviation of each axis in metres. */
export interface TraceKind {
  readonly mode: Mode
  readonly interval: number
  readonly noise: number
}

const METERS_PER_DEGREE = 111_319.5

/** Routes between random crossings at their usual speeds, sampled. */
export function makeTraces(
  network: Network,
  { mode, interval, noise }: TraceKind,
  count: number,
  seed: number,
): MadeTrace[] {
  const random = seededRandom(seed)
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const router = new Router(network)
  const { graph } = network
  const made: MadeTrace[] = []
  while (made.length < count) {
    const locations = [0, 1].map(() => {
      const node = Math.floor(random() * graph.nodeCount)
      return { lon: graph.nodeLon[node]! / 1e7, lat: graph.nodeLat[node]! / 1e7 }
    })
    const request = {
      locations,
      costing: mode,
      format: 'osrm',
      annotations: 'duration',
      geometries: 'geojson',
      steps: false,
    }
    const { status, body } = router.answer(JSON.stringify(request))
    if (status !== 200) continue
    const [route] = (JSON.parse(body) as { routes: Route[] }).routes
    if (route!.duration < 4 * interval || route!.distance < 500) continue
    const { coordinates } = route!.geometry
    const truth = { lon: coordinates.map(([lon]) => lon), lat: coordinates.map(([, lat]) => lat) }
    const points = sampled(truth, route!.legs[0]!.annotation.duration, interval).map(({ lon, lat, time }) => ({
      lon: lon + (normal() * noise) / METERS_PER_DEGREE / Math.cos((lat * Math.PI) / 180),
      lat: lat + (normal() * noise) / METERS_PER_DEGREE,
      time,
    }))
    made.push({ truth, points })
  }
  return made
}

interface Route {
  readonly duration: number
  readonly distance: number
  readonly geometry: { readonly coordinates: readonly (readonly [number, number])[] }
  readonly legs: readonly { readonly annotation: { readonly duration: readonly number[] } }[]
}

/** Positions along a line at an interval in seconds, and its end. */
function sampled(line: Line, durations: readonly number[], interval: number): MadeTrace['points'][number][] {
  const points: MadeTrace['points'][number][] = []
  let time = 0
  let next = 0
  for (const [i, duration] of durations.entries()) {
    for (; next < time + duration; next += interval) {
      const share = (next - time) / duration
      points.push({
        lon: line.lon[i]! + share * (line.lon[i + 1]! - line.lon[i]!),
        lat: line.lat[i]! + share * (line.lat[i + 1]! - line.lat[i]!),
        time: next,
      })
    }
    time += duration
  }
  return [...points, { lon: line.lon.at(-1)!, lat: line.lat.at(-1)!, time }]
}

const STEP = 5
const NEAR = 4
const CELL = 0.0005

/** Length of lines in metres, and of their parts that run along other lines in the same direction. */
export function overlap(lines: readonly Line[], others: readonly Line[]): { meters: number; along: number } {
  const cells = new Map<string, [number, number, number, number][]>()
  for (const { lon, lat } of others) {
    for (let i = 1; i < lon.length; i++) {
      const parts = Math.ceil(distanceMeters(lon[i - 1]!, lat[i - 1]!, lon[i]!, lat[i]!) / 20) + 1
      const seen = new Set<string>()
      for (let k = 0; k <= parts; k++) {
        const x = Math.floor((lon[i - 1]! + (k / parts) * (lon[i]! - lon[i - 1]!)) / CELL)
        const y = Math.floor((lat[i - 1]! + (k / parts) * (lat[i]! - lat[i - 1]!)) / CELL)
        for (let dx = -1; dx <= 1; dx++) for (let dy = -1; dy <= 1; dy++) seen.add(`${x + dx},${y + dy}`)
      }
      for (const cell of seen) {
        const list = cells.get(cell) ?? []
        list.push([lon[i - 1]!, lat[i - 1]!, lon[i]!, lat[i]!])
        cells.set(cell, list)
      }
    }
  }
  let meters = 0
  let along = 0
  for (const { lon, lat } of lines) {
    for (let i = 1; i < lon.length; i++) {
      const length = distanceMeters(lon[i - 1]!, lat[i - 1]!, lon[i]!, lat[i]!)
      const parts = Math.max(1, Math.ceil(length / STEP))
      for (let k = 0; k < parts; k++) {
        const share = (k + 0.5) / parts
        const x = lon[i - 1]! + share * (lon[i]! - lon[i - 1]!)
        const y = lat[i - 1]! + share * (lat[i]! - lat[i - 1]!)
        meters += length / parts
        const near = cells.get(`${Math.floor(x / CELL)},${Math.floor(y / CELL)}`) ?? []
        if (near.some((part) => runsAlong(part, [x, y], [lon[i]! - lon[i - 1]!, lat[i]! - lat[i - 1]!])))
          along += length / parts
      }
    }
  }
  return { meters, along }
}

type Pair = readonly [number, number]

function runsAlong([ax, ay, bx, by]: readonly number[], [x, y]: Pair, [dx, dy]: Pair): boolean {
  const cos = Math.cos((y * Math.PI) / 180)
  const [ux, uy] = [(bx! - ax!) * cos, by! - ay!]
  const [px, py] = [(x - ax!) * cos, y - ay!]
  const square = ux * ux + uy * uy
  if (square === 0 || ux * dx * cos + uy * dy <= 0) return false
  const share = Math.min(1, Math.max(0, (px * ux + py * uy) / square))
  return Math.hypot(px - share * ux, py - share * uy) * METERS_PER_DEGREE <= NEAR
}
