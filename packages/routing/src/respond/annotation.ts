import { distanceMeters } from '../geometry/geodesy.ts'
import { UNLIMITED } from '../graph/attributes.ts'
import type { Graph } from '../graph/graph.ts'
import type { GuidedLeg } from '../guide/steps.ts'

/** OSRM's annotations of the segments between points of a leg, without OSM node ids, which the graph lacks. */
export const ANNOTATIONS = ['duration', 'distance', 'speed', 'weight', 'datasources'] as const
/** OSRM's annotations, and the speed limit of Mapbox and Valhalla. */
export type Annotation = (typeof ANNOTATIONS)[number] | 'maxspeed'

/** The annotation of a leg: a list for each kind, with one item per segment of the line. */
export function annotationOf(graph: Graph, { steps, line }: GuidedLeg, kinds: readonly Annotation[]): object {
  const lists = { duration: [], distance: [], speed: [], weight: [], datasources: [], maxspeed: [] } as Lists
  let before = { seconds: 0, cost: 0 }
  for (const { edge, beginShape, endShape, meters, seconds, cost } of steps) {
    const parts = Array.from({ length: endShape - beginShape }, (_, i) => {
      const at = beginShape + i
      return distanceMeters(line.lon[at]!, line.lat[at]!, line.lon[at + 1]!, line.lat[at + 1]!)
    })
    const limit = limitOf(graph.shapeLimit[graph.edgeShape[edge]!]!)
    const sum = parts.reduce((total, part) => total + part, 0)
    for (const part of parts) {
      // Values of an edge and the turn onto it are divided in proportion to the length of the parts.
      const share = sum > 0 ? part / sum : 1 / parts.length
      const [distance, duration] = [meters * share, (seconds - before.seconds) * share]
      lists.distance.push(rounded(distance))
      lists.duration.push(rounded(duration))
      lists.speed.push(duration > 0 ? Math.round((distance / duration) * 10) / 10 : 0)
      lists.weight.push(rounded((cost - before.cost) * share))
      lists.datasources.push(0)
      lists.maxspeed.push(limit)
    }
    before = { seconds, cost }
  }
  return {
    ...Object.fromEntries(kinds.map((kind) => [kind, lists[kind]])),
    ...(kinds.includes('datasources') && { metadata: { datasource_names: ['OpenStreetMap'] } }),
  }
}

type Lists = Record<Exclude<Annotation, 'maxspeed'>, number[]> & { readonly maxspeed: object[] }

function limitOf(kmh: number): object {
  if (kmh === UNLIMITED) return { none: true }
  return kmh === 0 ? { unknown: true } : { speed: kmh, unit: 'km/h' }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
