import { RoadClass, Use } from '../graph/attributes.ts'
import { get, isForLocals, TrafficField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { Name, TextReader } from '../graph/texts.ts'
import { Kind, type Maneuver } from '../guide/maneuver.ts'
import type { Signs, SignText } from '../guide/signs.ts'
import { type TravelMode, TRAVEL_ACCESS } from '../cost/profile.ts'
import type { GuidedLeg, Step } from '../guide/steps.ts'
import type { Line } from '../geometry/polyline.ts'
import type { Recosting } from '../path/recost.ts'
import type { OsrmOptions } from '../request/format.ts'
import type { Warning } from '../request/problems.ts'
import { bannerInstructions } from './banner.ts'
import { writeGeometry } from './geometry.ts'
import { osrmModifier, osrmType } from './osrm-maneuver.ts'
import type { ToldLeg } from './trip.ts'
import { type Speech, voiceInstructions } from './voice.ts'

/** Input of an answer in the form of OSRM. */
export interface OsrmSource {
  readonly graph: Graph
  readonly texts: TextReader
  readonly mode: string
  readonly options: OsrmOptions
  readonly warnings: readonly Warning[]
  readonly speech: Speech
}

/** The steps of a leg, one for each maneuver. */
export function stepsOf(source: OsrmSource, told: ToldLeg): object[] {
  const { maneuvers } = told
  const spans: Span[] = []
  for (const [i, maneuver] of maneuvers.entries()) spans.push(spanOf(source, told, maneuver, spans[i - 1] ?? null))
  return spans.map((span, i) => ({
    ...stepOf(source, told, span),
    ...promptsOf(source, told, { span, next: spans[i + 1], i }),
  }))
}

/** Values of a step in the form of OSRM that come from its maneuver. */
interface Span {
  readonly maneuver: Maneuver
  /** The maneuver that gives the step its names; on arrival, the previous maneuver. */
  readonly named: Maneuver
  readonly arrives: boolean
  readonly type: string
  readonly modifier: string
  readonly before: number
  readonly after: number
  readonly intersections: readonly object[]
  readonly name: string
  readonly ref: string
  readonly destinations: string
  readonly exits: string
}

function spanOf(source: OsrmSource, told: ToldLeg, maneuver: Maneuver, previous: Span | null): Span {
  const { guided, maneuvers } = told
  const arrives = maneuver === maneuvers.at(-1)
  const named = arrives && previous !== null ? previous.named : maneuver
  const before = previous === null ? 0 : guided.steps[maneuver.beginNode - 1]!.endHeading
  const after = arrives ? 0 : maneuver.beginHeading
  const modifier = previous === null ? '' : osrmModifier(maneuver, before, after)
  const last = previous && { maneuver: previous.maneuver, crossings: previous.intersections.length }
  return {
    maneuver,
    named,
    arrives,
    type: last === null ? 'depart' : arrives ? 'arrive' : osrmType(guided, maneuver, modifier, last),
    modifier,
    before,
    after,
    intersections: intersectionsOf(source, told, maneuver, arrives),
    name: joinNames(named.names, false),
    ref: joinNames(named.names, true),
    destinations: destinationsOf(maneuver.signs),
    exits: textsOf(maneuver.signs.exitNumbers).join('; '),
  }
}

function stepOf(source: OsrmSource, { guided, maneuvers, narrations, recostings }: ToldLeg, span: Span): object {
  const { maneuver, named, arrives, type, modifier, before, after, intersections, name, ref, destinations, exits } =
    span
  const { line } = guided
  const { beginShape: at, beginNode: begin, endNode: end } = maneuver
  const stretch: Line = arrives
    ? { lon: [line.lon[at]!, line.lon[at]!], lat: [line.lat[at]!, line.lat[at]!] }
    : { lon: line.lon.slice(at, maneuver.endShape + 1), lat: line.lat.slice(at, maneuver.endShape + 1) }
  const cost = (node: number): number => guided.steps[node - 1]?.cost ?? 0
  return {
    mode: modeOf(named.travelMode, guided.steps[Math.min(begin, guided.steps.length - 1)]!.use),
    driving_side: named.driveOnRight ? 'right' : 'left',
    distance: thousandths(maneuver.meters),
    duration: thousandths(maneuver.seconds),
    weight: thousandths(cost(end) - cost(begin)),
    ...stretchOf(recostings, begin, end),
    name,
    ...(ref !== '' && { ref }),
    ...(maneuver.roundabout && type === 'rotary' && { rotary_name: maneuver.names[0]!.text }),
    maneuver: {
      location: [degrees(line.lon[at]!), degrees(line.lat[at]!)],
      bearing_before: before,
      bearing_after: after,
      type,
      ...(narrations !== null && { instruction: narrations[maneuvers.indexOf(maneuver)]!.instruction }),
      ...(modifier !== '' && { modifier }),
      ...(maneuver.roundaboutExit > 0 && { exit: maneuver.roundaboutExit }),
    },
    ...(destinations !== '' && { destinations }),
    ...(exits !== '' && { exits }),
    geometry: writeGeometry(stretch, source.options.geometries),
    intersections,
  }
}

/** Banners and voice instructions of a step, for the maneuver at its end; empty on arrival. */
function promptsOf(
  { options, speech }: OsrmSource,
  { guided, narrations }: ToldLeg,
  { span, next, i }: { span: Span; next: Span | undefined; i: number },
): object {
  if (narrations === null) return {}
  const [said, saidNext] = [narrations[i]!, narrations[i + 1]]
  if (next === undefined || saidNext === undefined) {
    return { ...(options.banners && { bannerInstructions: [] }), ...(options.voices && { voiceInstructions: [] }) }
  }
  const { maneuver } = next
  const texts = {
    ...next,
    instruction: saidNext.instruction,
    kind: maneuver.kind,
    degrees: roundaboutDegrees(guided, span.maneuver, maneuver),
    drivingSide: maneuver.driveOnRight ? ('right' as const) : ('left' as const),
  }
  const upcoming = { maneuver, narration: saidNext }
  const now = { maneuver: span.maneuver, narration: said }
  return {
    ...(options.banners && { bannerInstructions: bannerInstructions(span.maneuver.meters, texts) }),
    ...(options.voices && {
      voiceInstructions: voiceInstructions(guided, now, upcoming, { speech, isFirst: i === 0 }),
    }),
  }
}

/** Angle around a roundabout in degrees; 180 is straight through. As in Valhalla 3.6. */
function roundaboutDegrees({ steps }: GuidedLeg, previous: Maneuver, maneuver: Maneuver): number {
  const entered = maneuver.kind === Kind.roundaboutExit ? previous : maneuver
  const before = steps[entered.beginNode - 1]?.endHeading ?? steps[0]!.beginHeading
  const left =
    maneuver.kind === Kind.roundaboutExit ? maneuver.beginHeading : (steps[maneuver.endNode]?.beginHeading ?? 0)
  const around = (before - left + 540) % 360
  return maneuver.driveOnRight ? around : 360 - around
}

interface Arm {
  readonly bearing: number
  readonly entry: boolean
  readonly role: 'in' | 'out' | null
}

function intersectionsOf({ graph }: OsrmSource, told: ToldLeg, maneuver: Maneuver, arrives: boolean): object[] {
  const { guided, countries } = told
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
        arms.push({ bearing: heading, entry: (out & TRAVEL_ACCESS[step.travelMode]) !== 0, role: null })
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
      ...(countries !== null && { admin_index: countries.ofNode[node] }),
      ...(classes.length > 0 && { classes }),
    }
  })
}

function classesOf(graph: Graph, { edge, roadClass, use, toll, travelMode }: Step): string[] {
  return [
    ...(get(graph.edgeTraffic[edge]!, TrafficField.tunnel) === 1 ? ['tunnel'] : []),
    ...(toll ? ['toll'] : []),
    ...(roadClass === RoadClass.motorway ? ['motorway'] : []),
    ...(use === Use.ferry ? ['ferry'] : []),
    ...(isForLocals(graph, edge, TRAVEL_ACCESS[travelMode]) ? ['restricted'] : []),
  ]
}

function modeOf(travelMode: TravelMode, use: number): string {
  if (use === Use.ferry || use === Use.railFerry) return 'ferry'
  return { drive: 'driving', bicycle: 'cycling', pedestrian: 'walking' }[travelMode]
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

/** Destinations on a sign: `A 8, E 52: Munich, Salzburg`. */
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

/** A number with three decimals. */
export function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000
}

/** Degrees with six decimals. */
export function degrees(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
