import type { Mode, Trip } from '../../src/index.ts'
import { decodeShape } from '../../test/support/compare.ts'
import type { LegalityChecker } from '../../test/support/legality/check.ts'
import type { BenchRequest } from './requests.ts'
import type { Valhalla } from './valhalla.ts'

/** Both answers to a request, and the checkers. */
interface Case {
  readonly valhalla: Valhalla
  readonly checker: LegalityChecker
  readonly request: BenchRequest
  readonly mine: Trip | undefined
  readonly theirs: Trip | undefined
}

/** Minimum difference in metres for one location to count as nearer. */
const APART = 0.5

/**
 * Independent reason why Terrane's answer differs from Valhalla's and is correct; null when none is found. Reasons:
 * Valhalla's route breaks a law; Valhalla does not use a lawful street, or counts a location as an island; Terrane's
 * street is nearer to the requested location, even if no way leads on from there.
 */
export async function reasonOf(one: Case): Promise<string | null> {
  const { checker, request, mine, theirs } = one
  if (theirs !== undefined) {
    const broken = faultOf(checker, request.mode, theirs)
    if (broken !== null) return `Valhalla breaks: ${broken}`
    if (turnsBack(theirs, mine)) return 'Valhalla turns back where the way leads on'
    if (mine === undefined) {
      return (await findsFromNearest(one)) ? null : 'Valhalla begins or ends on a street that is not the nearest'
    }
    return isNearer(request, mine, theirs) ? 'ours begins or ends nearer to the place' : null
  }
  if (mine === undefined || faultOf(checker, request.mode, mine) !== null) return null
  if (!(await passes(one, mine))) return 'Valhalla does not pass a lawful street'
  return (await findsBetween(one, mine)) ? 'Valhalla puts a place where no way leads on' : null
}

function faultOf(checker: LegalityChecker, mode: Mode, { legs }: Trip): string | null {
  for (const { shape } of legs) {
    const { violations, passesLocal } = checker.check({ mode }, decodeShape(shape))
    if (violations.length > 0) return violations[0]!.kind
    if (passesLocal.length > 0) return 'through traffic'
  }
  return null
}

const keyOf = ([lon, lat]: readonly number[]): string => `${lon!.toFixed(6)} ${lat!.toFixed(6)}`

/** Whether a route makes a U-turn within a leg where the other continues along the same way. */
function turnsBack(one: Trip, other: Trip | undefined): boolean {
  const onward = new Map<string, Set<string>>()
  for (const { shape } of other?.legs ?? []) {
    const places = decodeShape(shape).map(keyOf)
    places.forEach((place, i) => {
      if (i === 0 || i + 1 === places.length || places[i - 1] === places[i + 1]) return
      onward.set(place, (onward.get(place) ?? new Set()).add(places[i - 1]!))
    })
  }
  return one.legs.some(({ shape }) => {
    const places = decodeShape(shape).map(keyOf)
    return places.some(
      (place, i) => i > 0 && places[i - 1] === places[i + 1] && onward.get(place)?.has(places[i - 1]!) === true,
    )
  })
}

/** Whether an end of Terrane's route is nearer to its location than Valhalla's, and none is farther. */
function isNearer({ text }: BenchRequest, mine: Trip, theirs: Trip): boolean {
  const { locations } = JSON.parse(text) as { locations: { lat: number; lon: number }[] }
  const more = [0, -1].map((end) => {
    const { lat, lon } = locations.at(end)!
    const [ours, other] = [mine, theirs].map(({ legs }) => {
      const [x, y] = decodeShape(legs.at(end)!.shape).at(end)!
      return Math.hypot((x - lon) * Math.cos((lat * Math.PI) / 180), y - lat) * 111_195
    })
    return other! - ours!
  })
  return Math.max(...more) > APART && Math.min(...more) > -APART
}

/** Whether Valhalla can follow Terrane's route. */
async function passes({ valhalla, request }: Case, { legs }: Trip): Promise<boolean> {
  const { costing, costing_options } = JSON.parse(request.text) as Record<string, unknown>
  for (const { shape } of legs) {
    const walk = { encoded_polyline: shape, shape_match: 'edge_walk', costing, costing_options }
    const isFollowed = await valhalla.traceRoute(JSON.stringify(walk)).then(
      () => true,
      () => false,
    )
    if (!isFollowed) return false
  }
  return true
}

/** Whether Valhalla finds a route between the ends of Terrane's route. */
async function findsBetween({ valhalla, request }: Case, { legs }: Trip): Promise<boolean> {
  const { costing, costing_options } = JSON.parse(request.text) as Record<string, unknown>
  const shapes = legs.map(({ shape }) => decodeShape(shape))
  const places = [...shapes.map(([first]) => first!), shapes.at(-1)!.at(-1)!]
  const locations = places.map(([lon, lat]) => ({ lon, lat, minimum_reachability: 0 }))
  return valhalla.route(JSON.stringify({ locations, costing, costing_options })).then(
    () => true,
    () => false,
  )
}

/** Whether Valhalla finds a route between the streets that it returns as nearest to each location. */
async function findsFromNearest({ valhalla, request }: Case): Promise<boolean> {
  const { locations, costing, costing_options } = JSON.parse(request.text) as Record<string, unknown>
  const found = JSON.parse(
    await valhalla.locate(JSON.stringify({ locations, costing, costing_options, verbose: true })),
  ) as { edges: { correlated_lat: number; correlated_lon: number; distance: number }[] | null }[]
  const nearest = found.map(({ edges }) => edges?.toSorted((a, b) => a.distance - b.distance)[0])
  if (nearest.includes(undefined)) return true
  const places = nearest.map((edge) => ({ lon: edge!.correlated_lon, lat: edge!.correlated_lat }))
  return valhalla.route(JSON.stringify({ locations: places, costing, costing_options })).then(
    () => true,
    () => false,
  )
}
