import { RoadClass, Use } from '../graph/attributes.ts'

const SLOW_USES = new Set<number>([Use.cycleway, Use.footway, Use.steps, Use.path, Use.bridleway])

/** Distance along an edge over which its heading is measured, in metres; longer on faster roads. */
export function headingMeters(roadClass: number, use: number): number {
  const meters = roadClass < RoadClass.primary ? 24 : roadClass < RoadClass.unclassified ? 21 : 15
  return SLOW_USES.has(use) ? meters / 2 : meters
}
