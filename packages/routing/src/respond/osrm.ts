import { Access, RoadClass, Use } from '../graph/attributes.ts'
import { get, isForLocals, TrafficField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { Name, TextReader } from '../graph/texts.ts'
import type { Maneuver } from '../guide/maneuver.ts'
import type { Signs, SignText } from '../guide/signs.ts'
import type { Step, TravelMode } from '../guide/steps.ts'
import type { Line } from '../geometry/polyline.ts'
import type { Recosting } from '../path/recost.ts'
import type { Warning } from '../request/problems.ts'
import type { Candidate } from '../snap/candidate.ts'
import { type Geometry, simplified, writeGeometry } from './geometry.ts'
import { osrmModifier, osrmType } from './osrm-maneuver.ts'
import type { ToldLeg } from './trip.ts'

/** What of an answer in the form of OSRM a request asks for. */
export interface OsrmOptions {
  readonly steps: boolean
  readonly geometries: Geometry
  readonly overview: 'full' | 'simplified' | false
}

/** An answer in the form of OSRM's route service, as Valhalla 3.6 fills it: metres, seconds, `[lon, lat]`. */
export interface OsrmResponse {
  readonly code: 'Ok'
  readonly routes: readonly object[]
  readonly waypoints: readonly object[]
  readonly warnings?: readonly Warning[]
}

interface Source {
  readonly graph: Graph
  readonly texts: TextReader
  readonly mode: string
  readonly options: OsrmOptions
  readonly warnings: readonly Warning[]
}

/** The best route and its alternates in the form of OSRM. */
export function osrmOf(source: Source, routes: readonly (readonly ToldLeg[])[]): OsrmResponse {
  const best = routes[0]!
  const places = [best[0]!.leg.origin, ...best.map(({ leg }) => leg.destination)]
  return {
    code: 'Ok',
    routes: routes.map((legs) => routeOf(source, legs)),
    waypoints: places.map((place) => waypointOf(source, place)),
    ...(source.warnings.length > 0 && { warnings: source.warnings }),
  }
}

function routeOf(source: Source, legs: readonly ToldLeg[]): object {
  const { options, mode } = source
  const sum = (of: (told: ToldLeg) => number): number => thousandths(legs.reduce((total, told) => total + of(told), 0))
  const line: Line = { lon: [], lat: [] }
  for (const { guided } of legs) {
    for (let i = line.lon.length === 0 ? 0 : 1; i < guided.line.lon.length; i++) {
      line.lon.push(guided.line.lon[i]!)
      line.lat.push(guided.line.lat[i]!)
    }
  }
  const shown = options.overview === 'simplified' ? simplified(line) : line
  return {
    distance: sum(({ extent }) => extent.meters),
    duration: sum(({ extent }) => extent.seconds),
    weight: sum(({ extent }) => extent.cost),
    weight_name: mode,
    ...joined(legs.map(({ recostings }) => recostings)),
    ...(options.overview !== false && { geometry: writeGeometry(shown, options.geometries) }),
    legs: legs.map((told) => legOf(source, told)),
  }
}

function legOf(source: Source, told: ToldLeg): object {
  const { extent, recostings } = told
  return {
    summary: summaryOf(told.maneuvers),
    distance: thousandths(extent.meters),
    duration: thousandths(extent.seconds),
    weight: thousandths(extent.cost),
    ...joined([recostings]),
    steps: source.options.steps ? stepsOf(source, told) : [],
  }
}

/** The names of the two longest maneuvers, in the order of the leg. */
function summaryOf(maneuvers: readonly Maneuver[]): string {
  const longest = new Map<string, number>()
  for (const { names, meters } of maneuvers) {
    const name = names[0]?.text
    if (name !== undefined) longest.set(name, (longest.get(name) ?? 0) + meters)
  }
  const kept = new Set(
    [...longest]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, 2)
      .map(([name]) => name),
  )
  return [...longest.keys()].filter((name) => kept.has(name)).join(', ')
}

function stepsOf(source: Source, told: ToldLeg): object[] {
  const { guided, maneuvers, narrations, recostings } = told
  let crossings = 0
  let named = maneuvers[0]!
  return maneuvers.map((maneuver, i) => {
    const arrives = i === maneuvers.length - 1
    // To arrive is to be on the street that one came by.
    if (!arrives) named = maneuver
    const before = i === 0 ? 0 : guided.steps[maneuver.beginNode - 1]!.endHeading
    const after = arrives ? 0 : maneuver.beginHeading
    const modifier = i === 0 ? '' : osrmModifier(maneuver, before, after)
    const previous = maneuvers[i - 1]
    const type =
      previous === undefined
        ? 'depart'
        : arrives
          ? 'arrive'
          : osrmType(guided, maneuver, modifier, { maneuver: previous, crossings })
    const intersections = intersectionsOf(source, told, maneuver, arrives)
    crossings = intersections.length
    const { line } = guided
    const at = maneuver.beginShape
    const begin = maneuver.beginNode
    const end = maneuver.endNode
    const stretch: Line = arrives
      ? { lon: [line.lon[at]!, line.lon[at]!], lat: [line.lat[at]!, line.lat[at]!] }
      : { lon: line.lon.slice(at, maneuver.endShape + 1), lat: line.lat.slice(at, maneuver.endShape + 1) }
    const refs = joinNames(named.names, true)
    const destinations = destinationsOf(maneuver.signs)
    const exits = textsOf(maneuver.signs.exitNumbers).join('; ')
    const cost = (node: number): number => guided.steps[node - 1]?.cost ?? 0
    return {
      mode: modeOf(named.travelMode, guided.steps[Math.min(begin, guided.steps.length - 1)]!.use),
      driving_side: named.driveOnRight ? 'right' : 'left',
      distance: thousandths(maneuver.meters),
      duration: thousandths(maneuver.seconds),
      weight: thousandths(cost(end) - cost(begin)),
      ...stretchOf(recostings, begin, end),
      name: joinNames(named.names, false),
      ...(refs !== '' && { ref: refs }),
      ...(maneuver.roundabout && type === 'rotary' && { rotary_name: maneuver.names[0]!.text }),
      maneuver: {
        location: [degrees(line.lon[at]!), degrees(line.lat[at]!)],
        bearing_before: before,
        bearing_after: after,
        type,
        ...(narrations !== null && { instruction: narrations[i]!.instruction }),
        ...(modifier !== '' && { modifier }),
        ...(maneuver.roundaboutExit > 0 && { exit: maneuver.roundaboutExit }),
      },
      ...(destinations !== '' && { destinations }),
      ...(exits !== '' && { exits }),
      geometry: writeGeometry(stretch, source.options.geometries),
      intersections,
    }
  })
}

interface Arm {
  readonly bearing: number
  readonly entry: boolean
  readonly role: 'in' | 'out' | null
}

function intersectionsOf({ graph }: Source, { guided }: ToldLeg, maneuver: Maneuver, arrives: boolean): object[] {
  const { steps, line } = guided
  const end = arrives ? maneuver.endNode + 1 : maneuver.endNode
  return Array.from({ length: Math.max(0, end - maneuver.beginNode) }, (_, i) => {
    const node = maneuver.beginNode + i
    const before = steps[node - 1]
    const step = arrives ? undefined : steps[node]
    const arms: Arm[] = []
    if (step !== undefined) arms.push({ bearing: step.beginHeading, entry: true, role: 'out' })
    if (step !== undefined && node > 0) {
      for (const { heading, out } of guided.crossings(node)) {
        arms.push({ bearing: heading, entry: (out & ACCESS[step.travelMode]) !== 0, role: null })
      }
    }
    if (before !== undefined) arms.push({ bearing: (before.endHeading + 180) % 360, entry: arrives, role: 'in' })
    arms.sort((a, b) => a.bearing - b.bearing)
    const shape = step?.beginShape ?? line.lon.length - 1
    const last = node + 1 >= end
    const classes = step === undefined ? [] : classesOf(graph, step)
    const [coming, going] = (['in', 'out'] as const).map((role) => arms.findIndex((arm) => arm.role === role))
    return {
      location: [degrees(line.lon[shape]!), degrees(line.lat[shape]!)],
      geometry_index: shape,
      ...(step !== undefined &&
        !last && {
          duration: thousandths(step.seconds - (before?.seconds ?? 0)),
          weight: thousandths(step.cost - (before?.cost ?? 0)),
        }),
      ...(coming! >= 0 && { in: coming }),
      ...(going! >= 0 && { out: going }),
      entry: arms.map(({ entry }) => entry),
      bearings: arms.map(({ bearing }) => bearing),
      ...(classes.length > 0 && { classes }),
    }
  })
}

const ACCESS: Readonly<Record<TravelMode, number>> = {
  drive: Access.car,
  bicycle: Access.bicycle,
  pedestrian: Access.foot,
}

function classesOf(graph: Graph, { edge, roadClass, use, toll, travelMode }: Step): string[] {
  return [
    ...(get(graph.edgeTraffic[edge]!, TrafficField.tunnel) === 1 ? ['tunnel'] : []),
    ...(toll ? ['toll'] : []),
    ...(roadClass === RoadClass.motorway ? ['motorway'] : []),
    ...(use === Use.ferry ? ['ferry'] : []),
    ...(isForLocals(graph, edge, ACCESS[travelMode]) ? ['restricted'] : []),
  ]
}

function modeOf(travelMode: TravelMode, use: number): string {
  if (use === Use.ferry || use === Use.railFerry) return 'ferry'
  return { drive: 'driving', bicycle: 'cycling', pedestrian: 'walking' }[travelMode]
}

function waypointOf({ texts }: Source, { edge, lon, lat, meters }: Candidate): object {
  return {
    name: texts.names(edge)[0]?.text ?? '',
    location: [degrees(lon), degrees(lat)],
    distance: thousandths(meters),
  }
}

/** Times and costs of other costings over legs; null where one of them may not travel a leg. */
function joined(legs: readonly (readonly Recosting[])[]): Record<string, number | null> {
  const sums: Record<string, number | null> = {}
  for (const [i, { name }] of (legs[0] ?? []).entries()) {
    const each = legs.map((leg) => leg[i]!.sums)
    const total = (of: 'seconds' | 'cost'): number | null =>
      each.includes(null) ? null : thousandths(each.reduce((all, one) => all + (one![of].at(-1) ?? 0), 0))
    sums[`duration_${name}`] = total('seconds')
    sums[`weight_${name}`] = total('cost')
  }
  return sums
}

function stretchOf(recostings: readonly Recosting[], begin: number, end: number): Record<string, number | null> {
  return Object.fromEntries(
    recostings.flatMap(({ name, sums }) => [
      [`duration_${name}`, between(sums?.seconds, begin, end)],
      [`weight_${name}`, between(sums?.cost, begin, end)],
    ]),
  )
}

function between(sums: Float64Array | undefined, begin: number, end: number): number | null {
  return sums === undefined ? null : thousandths((sums[end - 1] ?? 0) - (sums[begin - 1] ?? 0))
}

function joinNames(names: readonly Name[], routeNumbers: boolean): string {
  return names
    .filter(({ isRouteNumber }) => isRouteNumber === routeNumbers)
    .map(({ text }) => text)
    .join('; ')
}

/** Where a sign leads: `A 8, E 52: Munich, Salzburg`. */
function destinationsOf(signs: Signs): string {
  const exit = signs.exitBranches.length + signs.exitTowards.length + signs.exitNames.length > 0
  const [branches, towards] = exit ? [signs.exitBranches, signs.exitTowards] : [signs.guideBranches, signs.guideTowards]
  const both = [...branches, ...towards]
  const refs = both.filter(({ isRouteNumber }) => isRouteNumber)
  const places = both.filter(({ isRouteNumber }) => !isRouteNumber)
  const names = exit && places.length === 0 ? signs.exitNames : places
  return [refs, names]
    .filter((texts) => texts.length > 0)
    .map((texts) => textsOf(texts).join(', '))
    .join(': ')
}

function textsOf(texts: readonly SignText[]): string[] {
  return texts.map(({ text }) => text)
}

function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000
}

function degrees(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
