import { RoadClass, Surface, Use } from '../../graph/attributes.ts'
import { leadingNumber, type Tags } from './values.ts'

/** Parts of a `surface` value and their meaning; the first match decides (`unpaved` contains `paved`). */
const MATERIALS: readonly (readonly [number, readonly string[]])[] = [
  [Surface.gravel, ['unpaved']],
  [Surface.pavedSmooth, ['paved', 'pavement', 'asphalt', 'concrete', 'cement', 'chipseal', 'metal']],
  [Surface.paved, ['tartan', 'pavingstone', 'paving_stones', 'sett', 'grass_paver']],
  [Surface.pavedRough, ['cobblestone', 'brick']],
  [Surface.compacted, ['compacted', 'wood', 'boardwalk']],
  [Surface.dirt, ['dirt', 'natural', 'earth', 'ground', 'mud', 'clay', 'laterite']],
  [Surface.gravel, ['gravel', 'pebblestone', 'sand']],
  [Surface.path, ['grass', 'stepping_stones']],
]

const SMOOTHNESS: Readonly<Record<string, number>> = {
  excellent: Surface.pavedSmooth,
  good: Surface.pavedSmooth,
  intermediate: Surface.pavedRough,
  bad: Surface.compacted,
  very_bad: Surface.dirt,
  horrible: Surface.gravel,
  very_horrible: Surface.path,
  impassable: Surface.impassable,
}

const TRACK_GRADES: Readonly<Record<string, number>> = {
  grade1: Surface.pavedRough,
  grade2: Surface.compacted,
  grade3: Surface.dirt,
  grade4: Surface.gravel,
  grade5: Surface.path,
}

/** Surface of a way: by mountain bike scale, then `surface`, `tracktype`, `smoothness`, else by use. */
export function waySurface(tags: Tags, roadClass: number, use: number): number {
  return mountainBikeSurface(tags) ?? taggedSurface(tags) ?? defaultSurface(tags, roadClass, use)
}

function taggedSurface(tags: Tags): number | undefined {
  const surface = tags.get('surface')?.toLowerCase()
  if (surface !== undefined) return MATERIALS.find(([, parts]) => parts.some((part) => surface.includes(part)))?.[0]
  const grade = tags.get('tracktype')
  return grade === undefined ? SMOOTHNESS[tags.get('smoothness') ?? ''] : TRACK_GRADES[grade]
}

function mountainBikeSurface(tags: Tags): number | undefined {
  const scale = leadingNumber(tags.get('mtb:scale'))
  if (scale !== undefined) return scale === 0 ? Surface.dirt : scale === 1 ? Surface.gravel : Surface.path
  const uphill = leadingNumber(tags.get('mtb:scale:uphill'))
  return uphill === undefined ? undefined : uphill < 2 ? Surface.gravel : Surface.path
}

const COMPACTED_USES = new Set<number>([Use.footway, Use.pedestrian, Use.sidewalk, Use.path, Use.bridleway])
const PAVED_USES = new Set<number>([Use.cycleway, Use.steps, Use.crossing, Use.elevator, Use.escalator, Use.other])

function defaultSurface(tags: Tags, roadClass: number, use: number): number {
  if (tags.has('sac_scale')) return Surface.path
  if (roadClass <= RoadClass.residential) return Surface.pavedSmooth
  if (COMPACTED_USES.has(use)) return Surface.compacted
  if (use === Use.track) return Surface.dirt
  return PAVED_USES.has(use) ? Surface.paved : Surface.pavedSmooth
}

/** Whether the mountain bike tags of a way open it to bicycles. */
export function mountainBikeAccess(tags: Tags): boolean {
  const scale = leadingNumber(tags.get('mtb:scale'))
  const uphill = leadingNumber(tags.get('mtb:scale:uphill'))
  if (scale !== undefined || uphill !== undefined) {
    return (scale !== undefined && scale < WORST_SCALE) || (uphill !== undefined && uphill < WORST_UPHILL_SCALE)
  }
  if (tags.has('mtb:scale') || tags.has('mtb:scale:uphill')) return false
  return tags.has('mtb:scale:imba') || tags.has('mtb:description')
}

const WORST_SCALE = 6
const WORST_UPHILL_SCALE = 5

const HIKING_GRADES = [
  'difficult_alpine_hiking',
  'demanding_alpine_hiking',
  'alpine_hiking',
  'demanding_mountain_hiking',
  'mountain_hiking',
  'hiking',
]

/** Difficulty for pedestrians, 0 (none) … 6, by the scale of the Swiss Alpine Club. */
export function hikingDifficulty(tags: Tags): number {
  const scale = tags.get('sac_scale')?.toLowerCase() ?? (tags.get('highway') === 'via_ferrata' ? HIKING_GRADES[0]! : '')
  const at = HIKING_GRADES.findIndex((grade) => scale.includes(grade))
  return at < 0 ? 0 : HIKING_GRADES.length - at
}
